//! Typed parameters: a policy declares a struct of settings, which is also its list of parameters.
//!
//! ```text
//! choices! {
//!     /// What comes first.
//!     enum Order { Remaining = "remaining", Total = "total" }
//! }
//! settings! {
//!     /// What you can set.
//!     struct Settings {
//!         /// skips after which a job may launch elsewhere        ◀ the meaning in `resched policies`
//!         skips: u32 = "D" { default: 24, range: 0..=1_000, unit: "heartbeats" },
//!         /// wait for a node with the data; auto: 1.5 heartbeats
//!         wait: Option<Ms> = "T1" { auto: Negative, range: 0..=86_400_000, unit: "ms" },
//!         order: Order = "order" { choice: Order::Remaining, },
//!         pools: PoolsBy = POOLS,                                ◀ shared with others, declared by `parameter!`
//!     }
//! }
//! ```
//!
//! `Settings::PARAMETERS` goes into the policy's `INFO`, and `Settings::read` makes the struct from [`Values`]. A
//! declaration may have these parts, in this order: `default` (a literal) or `choice` (a word); `of`, the words that
//! are allowed, if not all; `auto`, with the numbers that mean it at a Hadoop site ([`Signal`]); `range`, with both ends; `unit`;
//! `hadoop`, the properties that set it at a site.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use crate::error::Error;
use crate::parameter::{AUTO, Parameter, Range, Signal, Value};

/// The values of all parameters of a policy or a speculator, each within its range, in the order of declaration.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Values {
    all: Vec<(&'static str, Value)>,
    /// The keys of those that you set; the others come from the site, or are defaults.
    set: BTreeSet<&'static str>,
}

impl Values {
    /// The values of these parameters, from their texts.
    ///
    /// # Errors
    /// [`Error::Parameter`] for the first text that is not a value of its parameter.
    pub(crate) fn parse<'t>(parameters: &[Parameter], text: impl Fn(&Parameter) -> &'t str) -> Result<Self, Error> {
        let parse = |parameter: &Parameter| Ok((parameter.key, parameter.parse(text(parameter))?));
        let all = parameters.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { all, set: BTreeSet::new() })
    }

    /// The same, of which you set those with these keys.
    pub(crate) fn set_by(mut self, is_set: impl Fn(&str) -> bool) -> Self {
        self.set = self.all.iter().map(|(key, _)| *key).filter(|key| is_set(key)).collect();
        self
    }

    /// True if you set a value.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.set.contains(key)
    }

    /// Hands out the values one by one, in the order of these parameters. The values must belong to them.
    ///
    /// # Errors
    /// [`Error::Defect`] if the values belong to other parameters: an entry of the registry names the wrong ones.
    pub(crate) fn of(&self, parameters: &[Parameter]) -> Result<InOrder<'_>, Error> {
        let keys = self.all.iter().map(|(key, _)| *key);
        if keys.eq(parameters.iter().map(|parameter| parameter.key)) {
            Ok(InOrder(self.all.iter()))
        } else {
            Err(Error::Defect("the settings are those of another policy".to_owned()))
        }
    }
}

/// Values that a struct is made from.
pub(crate) struct InOrder<'v>(std::slice::Iter<'v, (&'static str, Value)>);

impl InOrder<'_> {
    /// The next value.
    ///
    /// # Errors
    /// [`Error::Defect`] if it does not fit the type: the declared range is larger than the type.
    pub(crate) fn take<T: Setting>(&mut self) -> Result<T, Error> {
        let next = self.0.next();
        let value = next.and_then(|(_, value)| T::of(value));
        value.ok_or_else(|| Error::Defect(format!("{next:?} does not fit the type of its setting")))
    }
}

/// A type that a setting may have.
pub(crate) trait Setting: Sized {
    /// The range of its values.
    const KIND: Kind;

    /// A value as this type; `None` if it does not fit.
    fn of(value: &Value) -> Option<Self>;
}

/// The range of values of a type.
pub(crate) enum Kind {
    Integer,
    Number,
    Boolean,
    Choice(&'static [&'static str]),
    File,
    Text,
}

macro_rules! integer_settings {
    ($($integer:ty),+) => {
        $(impl Setting for $integer {
            const KIND: Kind = Kind::Integer;

            fn of(value: &Value) -> Option<Self> {
                let Value::Integer(value) = value else { return None };
                <$integer>::try_from(*value).ok()
            }
        })+
    };
}

integer_settings!(i64, u32, u64, usize);

impl Setting for f64 {
    const KIND: Kind = Kind::Number;

    fn of(value: &Value) -> Option<Self> {
        if let Value::Number(value) = value { Some(*value) } else { None }
    }
}

impl Setting for bool {
    const KIND: Kind = Kind::Boolean;

    fn of(value: &Value) -> Option<Self> {
        if let Value::Boolean(value) = value { Some(*value) } else { None }
    }
}

/// The file that a parameter names, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File(String);

impl File {
    /// Its path; `None` if no file is named.
    pub(crate) fn path(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|path| !path.is_empty())
    }
}

impl Setting for File {
    const KIND: Kind = Kind::File;

    fn of(value: &Value) -> Option<Self> {
        if let Value::Text(path) = value { Some(Self(path.clone())) } else { None }
    }
}

/// A text, if any.
impl Setting for String {
    const KIND: Kind = Kind::Text;

    fn of(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.clone()) } else { None }
    }
}

/// `None` means `auto`.
impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = T::KIND;

    fn of(value: &Value) -> Option<Self> {
        if *value == Value::Auto { Some(None) } else { T::of(value).map(Some) }
    }
}

/// A parameter whose values have this type.
pub(crate) struct Declared<T> {
    /// As the registry lists it.
    pub(crate) parameter: Parameter,
    values: PhantomData<T>,
}

impl<T: Setting> Declared<T> {
    pub(crate) const fn new(key: &'static str, meaning: &'static str) -> Self {
        let range = match T::KIND {
            Kind::Integer => Range::Integer(i64::MIN, i64::MAX),
            Kind::Number => Range::Number(f64::MIN, f64::MAX),
            Kind::Boolean => Range::Boolean,
            Kind::Choice(words) => Range::Choice(words),
            Kind::File => Range::File,
            Kind::Text => Range::Text,
        };
        let meaning = meaning.trim_ascii_start();
        Self {
            parameter: Parameter { key, range, auto: None, default: "", unit: "", meaning, hadoop: &[] },
            values: PhantomData,
        }
    }

    pub(crate) const fn default(self, default: &'static str) -> Self {
        Self { parameter: Parameter { default, ..self.parameter }, ..self }
    }

    /// Allows only these of its words.
    pub(crate) const fn of(self, words: &'static [&'static str]) -> Self {
        Self { parameter: Parameter { range: Range::Choice(words), ..self.parameter }, ..self }
    }

    /// From one number to another, both included.
    pub(crate) const fn range(self, low: f64, high: f64) -> Self {
        let range = match self.parameter.range {
            Range::Integer(..) => Range::Integer(low as i64, high as i64),
            Range::Number(..) => Range::Number(low, high),
            other => other,
        };
        Self { parameter: Parameter { range, ..self.parameter }, ..self }
    }

    pub(crate) const fn unit(self, unit: &'static str) -> Self {
        Self { parameter: Parameter { unit, ..self.parameter }, ..self }
    }

    /// With the properties of Hadoop that set it at a site.
    pub(crate) const fn hadoop(self, hadoop: &'static [&'static str]) -> Self {
        Self { parameter: Parameter { hadoop, ..self.parameter }, ..self }
    }
}

impl<T: Setting> Declared<Option<T>> {
    /// `auto` is a value and the default; these numbers mean it in the configuration of a Hadoop site.
    pub(crate) const fn auto(self, signal: Signal) -> Self {
        Self { parameter: Parameter { auto: Some(signal), default: AUTO, ..self.parameter }, ..self }
    }
}

/// A struct of settings; see the module.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident {
            $($(#[doc = $meaning:literal])* $field:ident: $type:ty = $head:tt $({ $($rest:tt)* })?),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone)]
        $vis struct $name {
            $($(#[doc = $meaning])* $vis $field: $type,)*
        }

        impl $name {
            /// The parameters that set it.
            #[allow(clippy::unnecessary_cast, reason = "a range may be of whole numbers")]
            $vis const PARAMETERS: &'static [$crate::parameter::Parameter] = &[$({
                const DECLARED: $crate::settings::Declared<$type> =
                    $crate::settings::declared!([$($meaning)*] $type, $head $({ $($rest)* })?);
                DECLARED.parameter
            }),*];

            /// Reads it from the values of these parameters.
            $vis fn read(values: &$crate::settings::Values) -> Result<Self, $crate::error::Error> {
                let mut values = values.of(Self::PARAMETERS)?;
                Ok(Self { $($field: values.take()?),* })
            }
        }
    };
}

/// A parameter that several policies share; see the module.
macro_rules! parameter {
    ($(#[doc = $meaning:literal])+ $vis:vis $name:ident: $type:ty = $key:literal { $($rest:tt)* }) => {
        $(#[doc = $meaning])+
        #[allow(clippy::unnecessary_cast, reason = "a range may be of whole numbers")]
        $vis const $name: $crate::settings::Declared<$type> =
            $crate::settings::declared!([$($meaning)+] $type, $key { $($rest)* });
    };
}

/// The part behind the `=` of a setting.
macro_rules! declared {
    ([] $type:ty, $shared:ident) => {
        $shared
    };
    (
        [$($meaning:literal)+] $type:ty, $key:literal {
            $(default: $default:literal $(,)?)?
            $(choice: $choice:path,)?
            $(of: [$($word:path),+ $(,)?] $(,)?)?
            $(auto: $auto:ident $(,)?)?
            $(range: $low:literal ..= $high:literal $(,)?)?
            $(unit: $unit:literal $(,)?)?
            $(hadoop: [$($property:literal),+ $(,)?] $(,)?)?
        }
    ) => {
        $crate::settings::Declared::<$type>::new($key, concat!($($meaning),+))
            $(.default(concat!($default)))?
            $(.default($choice.word()))?
            $(.of(&[$($word.word()),+]))?
            $(.auto($crate::parameter::Signal::$auto))?
            $(.range($low as f64, $high as f64))?
            $(.unit($unit))?
            $(.hadoop(&[$($property),+]))?
    };
}

/// An enumeration whose variants are words that a parameter takes.
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $name:ident { $($(#[$note:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $($(#[$note])* $variant),+ }

        impl $name {
            /// The word for it.
            $vis const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The variant for a word, if there is one.
            $vis fn named(word: &str) -> Option<Self> {
                [$(Self::$variant),+].into_iter().find(|choice| choice.word() == word)
            }
        }

        impl $crate::settings::Setting for $name {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Choice(&[$($word),+]);

            fn of(value: &$crate::parameter::Value) -> Option<Self> {
                if let $crate::parameter::Value::Text(word) = value { Self::named(word) } else { None }
            }
        }
    };
}

pub(crate) use {choices, declared, parameter, settings};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    choices! {
        /// What comes first.
        enum Order { Remaining = "remaining", Total = "total", Other = "other" }
    }

    parameter! {
        /// between two looks
        SHARED: i64 = "period" { default: 500, range: 1..=3_600_000, unit: "ms", hadoop: ["some.period"] }
    }

    settings! {
        /// Settings of all types.
        struct Settings {
            /// how many
            /// there are
            count: u32 = "n" { default: 24, range: 0..=1_000 },
            /// a share; auto: all
            share: Option<f64> = "share" { auto: Negative, range: 0..=0.5 },
            /// what comes first
            order: Order = "order" { choice: Order::Total, of: [Order::Total, Order::Remaining] },
            period: i64 = SHARED,
            /// where it stands
            file: File = "file" {},
        }
    }

    fn read(text: impl Fn(&Parameter) -> &'static str) -> Result<Settings, Error> {
        Settings::read(&Values::parse(Settings::PARAMETERS, text)?)
    }

    #[test]
    fn a_struct_of_settings_is_a_list_of_parameters() {
        let [count, share, order, period, file] = Settings::PARAMETERS else { unreachable!() };
        assert_eq!((count.key, count.default, count.meaning), ("n", "24", "how many there are"));
        assert_eq!((share.default, share.expected().as_str()), ("auto", "auto|0..0.5"));
        assert_eq!((order.default, order.range), ("total", Range::Choice(&["total", "remaining"])));
        assert_eq!(
            (period.range, period.unit, period.hadoop),
            (Range::Integer(1, 3_600_000), "ms", &["some.period"][..])
        );
        assert_eq!((file.range, file.default), (Range::File, ""));
        let found = read(|parameter| parameter.default).unwrap();
        assert_eq!((found.count, found.share, found.order, found.period), (24, None, Order::Total, 500));
        assert_eq!(found.file.path(), None);
    }

    #[test]
    fn values_are_read_and_no_number_is_auto() {
        let with = |key, text| read(move |parameter| if parameter.key == key { text } else { parameter.default });
        assert_eq!(with("share", "0.25").unwrap().share, Some(0.25));
        assert_eq!(with("share", "0").unwrap().share, Some(0.0));
        assert_eq!(with("share", "auto").unwrap().share, None);
        assert_eq!(with("order", "remaining").unwrap().order, Order::Remaining);
        let error = |key, text| with(key, text).unwrap_err().to_string();
        assert_eq!(error("order", "other"), "order: expected total|remaining, found `other`");
        for number in ["-1", "-0.5"] {
            let expected = format!(
                "share: expected auto|0..0.5, found `{number}`; write `auto` to leave the choice to the policy"
            );
            assert_eq!(error("share", number), expected);
        }
        assert_eq!(error("share", "much"), "share: expected auto|0..0.5, found `much`");
        assert_eq!(error("n", "auto"), "n: expected 0..1000, found `auto`");
        assert_eq!(with("file", "a.toml").unwrap().file.path(), Some("a.toml"));
        let others = Values::parse(&[SHARED.parameter], |_| "1").unwrap();
        assert!(Settings::read(&others).is_err_and(|error| !error.is_request()));
    }
}
