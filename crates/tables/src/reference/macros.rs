//! The macros that declare what a user can write and read.

/// Declares a table of a TOML file.
///
/// A key is `/// meaning`, then `name: Type = default, unit "…", range low..=high;`. Without `= default` the key is required;
/// unit and range may be left out. `rule "…"` takes the place of a range that the macro cannot check: it is a text for the
/// reference page, and a check of your own must enforce it. `serde(…)` adds an attribute for writing.
///
/// * `struct Name: Default + Copy` derives these; `Default` needs a default for each key.
/// * An unknown key and a missing required one are errors of the reader, which name the place.
/// * Ranges are checked by [`Value::check_ranges`](crate::reference::Value::check_ranges). After `, checked as read` the reader
///   checks them itself.
#[macro_export]
macro_rules! keys {
    (@table [$($about:expr),+] [$($derive:ident)*] $read:tt [$vis:vis] $name:ident {
        $(
            $(#[doc = $doc:expr])+
            $field:ident : $type:ty $(= $default:expr)?
            $(, unit $unit:literal)? $(, range $range:expr)? $(, rule $rule:expr)? $(, serde($($serde:tt)+))? ;
        )+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize $(, $derive)*)]
        $vis struct $name {
            $($(#[doc = $doc])+ $(#[serde($($serde)+)])? $vis $field: $type,)+
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> ::std::result::Result<Self, D::Error> {
                const KNOWN_KEYS: &[&str] = &[$(stringify!($field)),+];
                struct TableVisitor;

                impl<'de> ::serde::de::Visitor<'de> for TableVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($name)))
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> ::std::result::Result<$name, A::Error> {
                        $(let mut $field: Option<$type> = None;)+
                        while let Some(key) = map.next_key_seed($crate::reference::KnownKey(KNOWN_KEYS))? {
                            $(if key == stringify!($field) {
                                $crate::reference::once(key, &$field)?;
                                $field = Some($crate::keys!(@read $read map, $type $(, $range)?));
                            })+
                        }
                        Ok($name {
                            $($field: match $field {
                                Some(value) => value,
                                None => $crate::keys!(@absent $field $(, $default)?),
                            },)+
                        })
                    }
                }

                from.deserialize_struct(stringify!($name), KNOWN_KEYS, TableVisitor)
            }
        }

        impl $crate::reference::Value for $name {
            fn shape() -> $crate::reference::Shape {
                $crate::reference::Shape::table($crate::reference::Table {
                    name: stringify!($name),
                    about: $crate::reference::joined(&[$($about),+]),
                    keys: vec![$({
                        let shape = <$type as $crate::reference::Value>::shape();
                        $crate::reference::Key {
                            name: stringify!($field),
                            unit: $crate::keys!(@or "", $($unit)?),
                            default: $crate::keys!(@shown $type $(, $default)?),
                            range: $crate::keys!(@or shape.range.clone(), $($crate::keys!(@limits $type, $range))? $($rule.to_string())?),
                            meaning: $crate::reference::joined(&[$($doc),+]),
                            shape,
                        }
                    }),+],
                })
            }

            fn check_ranges(&self, path: &str) -> ::std::result::Result<(), String> {
                $({
                    let path = $crate::reference::below(path, stringify!($field));
                    $($crate::reference::check_range(&self.$field, &path, $range)?;)?
                    $crate::reference::Value::check_ranges(&self.$field, &path)?;
                })+
                Ok(())
            }
        }
    };
    (@default $name:ident {
        $(
            $(#[doc = $doc:expr])+
            $field:ident : $type:ty = $default:expr
            $(, unit $unit:literal)? $(, range $range:expr)? $(, rule $rule:expr)? $(, serde($($serde:tt)+))? ;
        )+
    }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }
    };
    (@read [read] $map:ident, $type:ty, $range:expr) => {
        $map.next_value_seed($crate::reference::Within::<$type>::new($range))?
    };
    (@read $any:tt $map:ident, $type:ty $(, $range:expr)?) => { $map.next_value::<$type>()? };
    (@absent $field:ident, $default:expr) => { $default };
    (@absent $field:ident) => { return Err(::serde::de::Error::missing_field(stringify!($field))) };
    (@shown $type:ty, $default:expr) => {{
        let default: $type = $default;
        Some($crate::reference::shown(&default))
    }};
    (@shown $type:ty) => { None };
    (@limits $type:ty, $range:expr) => {{
        let limits: $crate::reference::Limits<<$type as $crate::reference::Bounded>::Number> = ($range).into();
        limits.to_string()
    }};
    (@or $otherwise:expr, $value:expr) => { $value };
    (@or $otherwise:expr,) => { $otherwise };
    (
        $(#[doc = $about:expr])+
        $vis:vis struct $name:ident: Default $(+ $derive:ident)* $(, checked as $read:ident)? { $($body:tt)+ }
    ) => {
        $crate::keys!(@table [$($about),+] [$($derive)*] [$($read)?] [$vis] $name { $($body)+ });
        $crate::keys!(@default $name { $($body)+ });
    };
    (
        $(#[doc = $about:expr])+
        $vis:vis struct $name:ident $(: $derive:ident $(+ $more:ident)*)? $(, checked as $read:ident)? { $($body:tt)+ }
    ) => {
        $crate::keys!(@table [$($about),+] [$($derive $($more)*)?] [$($read)?] [$vis] $name { $($body)+ });
    };
}

/// Declares the words that a key of a TOML file takes: `/// meaning`, then `Variant = "word",`.
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $about:expr])+
        $vis:vis enum $name:ident { $($(#[doc = $doc:expr])+ $variant:ident = $word:literal,)+ }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name { $($(#[doc = $doc])+ #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// The word that stands for it in a file.
            #[allow(dead_code)] // Not every choice is ever named.
            $vis fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl $crate::reference::Value for $name {
            fn shape() -> $crate::reference::Shape {
                $crate::reference::Shape::choice(&[$(
                    $crate::reference::Word { word: $word, meaning: &[$($doc),+] },
                )+])
            }
        }
    };
}

/// Declares a struct of numbers about a run: a field is `/// meaning`, then `name: Type, unit "…", null "…", source "…";`, of
/// which only the type is needed. `null` says when the number is null. The constant `MEASURES` holds what was declared.
#[macro_export]
macro_rules! measures {
    (
        $(#[doc = $about:expr])+
        $vis:vis struct $name:ident: $derive:ident $(+ $more:ident)* {
            $(
                $(#[doc = $doc:expr])+
                $field:ident : $type:ty $(, unit $unit:literal)? $(, null $null:literal)? $(, source $source:literal)? ;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, $derive $(, $more)*)]
        $vis struct $name { $($(#[doc = $doc])+ $vis $field: $type,)+ }

        impl $name {
            /// Its fields, for the reference page.
            pub const MEASURES: &'static [$crate::reference::Measure] = &[$(
                $crate::reference::Measure {
                    name: stringify!($field),
                    unit: $crate::keys!(@or "", $($unit)?),
                    meaning: &[$($doc),+],
                    null: $crate::keys!(@or "", $($null)?),
                    source: $crate::keys!(@or "", $($source)?),
                },
            )+];
        }
    };
}
