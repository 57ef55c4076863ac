//! The grammar: from the text of a metric to its formula.
//!
//! ```text
//! metric    = formula [ "where" filter ] [ "," ( "less" | "more" ) "is" "better" ]
//! formula   = product { ( "+" | "-" ) product }
//! product   = factor { ( "*" | "/" ) factor }
//! factor    = "(" formula ")" | number [ unit ] | known | "jain" "(" aggregate "by" attribute ")" | aggregate
//! aggregate = word "(" ( quantity | filter (of share) | nothing (of count) ) ")"
//! filter    = part { "or" part }
//! part      = test { "and" test }
//! test      = "not" test | "(" filter ")" | word condition
//! condition = comparison literal | [ "not" ] "in" "(" literal { "," literal } ")" | [ "not" ] "like" text
//!           | "is" [ "not" ] "null"
//! literal   = text | number [ unit ]
//! ```
//!
//! A rule that has begun cannot fail silently: the first place at which none of the possible words stands is the problem.

use std::ops::Range;

use resched_tables::reference::nearest;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, opt, repeat};
use winnow::error::{ErrMode, ModalResult, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, take_till, take_while};

use super::attribute::{ATTRIBUTES, Attribute, Value};
use super::filter::{Check, Comparison, Filter, NumberTest, Of, Pattern, Test, TextTest};
use super::formula::{Aggregate, By, Direction, Formula, Operator, Statistic};
use super::literal::{Literal, OTHER_UNITS, UNITS};
use super::problem::Problem;
use super::words;
use crate::metrics::list::{QUANTITIES, Quantity, Way};

/// How deep filters and formulas may be nested.
pub(crate) const DEEPEST: usize = 50;

/// The aggregates, apart from percentiles.
const AGGREGATES: &[&str] = &["mean", "median", "min", "max", "sum", "stddev", "count", "share", "p95", "p99", JAIN];

type Input<'t> = LocatingSlice<&'t str>;
type Parsed<T> = ModalResult<T, Fault>;

/// Where the text stops to follow the grammar, and why.
#[derive(Debug, Clone)]
struct Fault {
    at: Range<usize>,
    message: String,
}

impl ParserError<Input<'_>> for Fault {
    type Inner = Self;

    fn from_input(input: &Input<'_>) -> Self {
        let start = input.current_token_start();
        Self { at: start..start, message: String::new() }
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// Reads a metric: its formula, and its direction if the text gives one.
pub(super) fn parse(text: &str) -> Result<(Formula, Option<Direction>), Problem> {
    let mut input = LocatingSlice::new(text);
    metric(&mut input).map_err(|error| match error {
        ErrMode::Backtrack(fault) | ErrMode::Cut(fault) => Problem::new(text, fault.at, fault.message),
        ErrMode::Incomplete(_) => Problem::new(text, text.len()..text.len(), "expected more".to_owned()),
    })
}

/// A word with its place.
#[derive(Debug, Clone)]
struct Word<'t> {
    text: &'t str,
    at: Range<usize>,
}

impl Word<'_> {
    /// The problem that another word was expected here: one of `known`.
    fn unknown<'a, T>(&self, expected: &str, known: impl Iterator<Item = &'a str> + Clone) -> Parsed<T> {
        let names: Vec<&str> = known.clone().collect();
        let hint = nearest(self.text, known);
        self.problem(format!("expected {expected}, found `{}`{hint} ({})", self.text, names.join(", ")))
    }

    fn problem<T>(&self, message: String) -> Parsed<T> {
        Err(ErrMode::Cut(Fault { at: self.at.clone(), message }))
    }
}

/// A parser that must succeed here.
fn must<'t, T>(
    expected: &'static str,
    mut parser: impl Parser<Input<'t>, T, ErrMode<Fault>>,
) -> impl FnMut(&mut Input<'t>) -> Parsed<T> {
    move |input| {
        let before = *input;
        parser.parse_next(input).map_err(|error| match error {
            ErrMode::Backtrack(_) => ErrMode::Cut(stops(&before, expected)),
            other => other,
        })
    }
}

/// The problem that something else was expected at this place.
fn stops(input: &Input<'_>, expected: &str) -> Fault {
    let rest: &str = input;
    let start = input.current_token_start();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let length = match rest.chars().next() {
        None => 0,
        Some(first) if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        Some(first) => first.len_utf8(),
    };
    let found = match rest.get(..length) {
        None | Some("") => "the end".to_owned(),
        Some(found) => format!("`{found}`"),
    };
    Fault { at: start..start + length, message: format!("expected {expected}, found {found}") }
}

/// The parser, then the spaces behind it.
fn spaced<'t, T>(parser: impl Parser<Input<'t>, T, ErrMode<Fault>>) -> impl Parser<Input<'t>, T, ErrMode<Fault>> {
    winnow::combinator::terminated(parser, multispace0)
}

/// Any word.
fn word<'t>(input: &mut Input<'t>) -> Parsed<Word<'t>> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let bare = (one_of(|c: char| c.is_alphabetic() || c == '_'), take_while(0.., part)).take();
    spaced(bare.with_span().map(|(text, at)| Word { text, at })).parse_next(input)
}

/// This word.
fn keyword<'t>(wanted: &'static str) -> impl FnMut(&mut Input<'t>) -> Parsed<Word<'t>> {
    move |input| word.verify(|word: &Word<'_>| word.text == wanted).parse_next(input)
}

/// A mark such as a parenthesis.
fn mark<'t>(wanted: &'static str) -> impl FnMut(&mut Input<'t>) -> Parsed<()> {
    move |input| spaced(wanted.void()).parse_next(input)
}

fn metric(input: &mut Input<'_>) -> Parsed<(Formula, Option<Direction>)> {
    multispace0.parse_next(input)?;
    let text: &str = input;
    let start = input.current_token_start();
    let formula = formula(input, 0)?;
    let number = text.get(..input.current_token_start() - start).unwrap_or(text).trim_end();
    let problem = |message: String| Err(ErrMode::Cut(Fault { at: start..start + number.len(), message }));
    if formula.is_constant() {
        return problem(format!("expected {A_METRIC}, found the number `{number}`"));
    }
    let formula = match opt(keyword("where")).parse_next(input)? {
        None => formula,
        Some(_) => match formula.within(&any(input, 0)?) {
            Some(formula) => formula,
            None => return problem(format!("`{number}` is a number of the whole run and takes no filter")),
        },
    };
    let direction = opt(direction).parse_next(input)?;
    let end = if direction.is_some() { "the end" } else { "`where`, `and`, `or`, `, less is better` or the end" };
    must(end, winnow::combinator::eof).parse_next(input)?;
    Ok((formula, direction))
}

/// What a metric begins with.
const A_METRIC: &str = "a metric, such as mean_completion or p95(completion)";

/// Products that are added and subtracted.
fn formula(input: &mut Input<'_>, depth: usize) -> Parsed<Formula> {
    let sign = |input: &mut Input<'_>| {
        alt((mark("+").value(Operator::Plus), mark("-").value(Operator::Minus))).parse_next(input)
    };
    paired(input, sign, |input| paired(input, product_sign, |input| factor(input, depth)))
}

fn product_sign(input: &mut Input<'_>) -> Parsed<Operator> {
    alt((mark("*").value(Operator::Times), mark("/").value(Operator::Over))).parse_next(input)
}

/// Parts with signs between them, from the left.
fn paired(
    input: &mut Input<'_>,
    sign: impl Fn(&mut Input<'_>) -> Parsed<Operator>,
    part: impl Fn(&mut Input<'_>) -> Parsed<Formula>,
) -> Parsed<Formula> {
    let mut found = part(input)?;
    loop {
        let before = *input;
        let Some(operator) = opt(&sign).parse_next(input)? else { return Ok(found) };
        let other = part(input)?;
        let (unit, of_other) = (found.unit(), other.unit());
        if operator.unit(unit, of_other).is_none() {
            let named =
                |unit: &str| if unit.is_empty() { "a plain number".to_owned() } else { format!("a number of {unit}") };
            let at = before.current_token_start()..before.current_token_start() + 1;
            let message = format!("{} `{}` {} has no unit", named(unit), operator.sign(), named(of_other));
            return Err(ErrMode::Cut(Fault { at, message }));
        }
        found = Formula::Pair(operator, Box::new([found, other]));
        // A formula is evaluated part by part, so its depth takes stack.
        if found.depth() > DEEPEST {
            return Err(ErrMode::Cut(stops(&before, "a formula with fewer parts")));
        }
    }
}

/// A number, a metric with a name, an aggregate, or a formula in parentheses.
fn factor(input: &mut Input<'_>, depth: usize) -> Parsed<Formula> {
    if depth > DEEPEST {
        return Err(ErrMode::Cut(stops(input, "a formula that is nested less deeply")));
    }
    if opt(mark("(")).parse_next(input)?.is_some() {
        let inner = formula(input, depth + 1)?;
        must("`)`", mark(")")).parse_next(input)?;
        return Ok(inner);
    }
    if let Some(Placed { literal: Literal::Number(number, unit), .. }) = opt(number).parse_next(input)? {
        return Ok(Formula::Number(number, unit));
    }
    let name = must(A_METRIC, word).parse_next(input)?;
    if opt(mark("(")).parse_next(input)?.is_none() {
        return known(&name);
    }
    let found = if name.text == JAIN {
        let word = must("an aggregate, such as mean(bounded_slowdown)", word).parse_next(input)?;
        must("`(`", mark("(")).parse_next(input)?;
        let aggregate = aggregate(&word, input)?;
        must("`)`", mark(")")).parse_next(input)?;
        must("`by` and an attribute, such as user", keyword("by")).parse_next(input)?;
        Formula::Jain(aggregate, by(input)?, None)
    } else {
        Formula::Jobs(aggregate(&name, input)?, None)
    };
    must("`)`", mark(")")).parse_next(input)?;
    Ok(found)
}

/// The word of Jain's index of groups.
const JAIN: &str = "jain";

/// An attribute whose values make groups: one that is a text.
fn by(input: &mut Input<'_>) -> Parsed<By> {
    let name = must("an attribute of a job, such as user", word).parse_next(input)?;
    let texts = ATTRIBUTES.iter().filter_map(|attribute| match attribute.value {
        Value::Text(of) => Some(By { name: attribute.name, of }),
        _ => None,
    });
    match texts.clone().find(|text| text.name == name.text) {
        Some(by) => Ok(by),
        None => name.unknown("an attribute of a job that is a text", texts.map(|text| text.name)),
    }
}

fn direction(input: &mut Input<'_>) -> Parsed<Direction> {
    mark(",").parse_next(input)?;
    let less = alt((keyword("less").value(Direction::Less), keyword("more").value(Direction::More)));
    let direction = must("`less is better` or `more is better`", less).parse_next(input)?;
    must("`is better`", (keyword("is"), keyword("better"))).parse_next(input)?;
    Ok(direction)
}

/// The metric with this name.
fn known(name: &Word<'_>) -> Parsed<Formula> {
    if let Some(known) = words().find(|known| known.name == name.text) {
        return match known.way {
            Way::Run(number) => Ok(Formula::Run(number)),
            Way::Text(text) => metric(&mut LocatingSlice::new(text)).map(|(formula, _)| match formula {
                aggregate @ Formula::Jobs(..) => aggregate,
                formula => Formula::Whole(Box::new(formula)),
            }),
        };
    }
    if QUANTITIES.iter().any(|quantity| quantity.name == name.text) {
        let text = name.text;
        return name.problem(format!(
            "expected a metric of a run, found the quantity `{text}` of a job; aggregate it, for example mean({text})"
        ));
    }
    let metrics = words().map(|known| known.name);
    let hint = nearest(name.text, metrics.clone().chain(AGGREGATES.iter().copied()));
    name.problem(format!(
        "unknown metric `{}`{hint}; the metrics are {}, and aggregates such as p95(completion)",
        name.text,
        metrics.collect::<Vec<_>>().join(", ")
    ))
}

/// The aggregate of this name, with its argument.
fn aggregate(name: &Word<'_>, input: &mut Input<'_>) -> Parsed<Aggregate> {
    let statistic = match name.text {
        "count" => return Ok(Aggregate::Count),
        "share" => return any(input, 0).map(Aggregate::Share),
        "mean" => Statistic::Mean,
        "median" => Statistic::Quantile(0.5),
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        "sum" => Statistic::Sum,
        "stddev" => Statistic::Deviation,
        other => match percentile(other) {
            Some(share) => Statistic::Quantile(share),
            None => return name.unknown("an aggregate", AGGREGATES.iter().copied()),
        },
    };
    let quantity = must("a quantity of a job, such as completion", word).parse_next(input)?;
    match QUANTITIES.iter().find(|known| known.name == quantity.text) {
        Some(known) => Ok(Aggregate::Of(statistic, known)),
        None => quantity.unknown("a quantity of a job", QUANTITIES.iter().map(|known| known.name)),
    }
}

/// The share that a percentile such as `p99.9` stands for.
fn percentile(name: &str) -> Option<f64> {
    let number = name.strip_prefix('p').filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))?;
    // The point is moved in the text, so that the share is the nearest number to it.
    let share: f64 = format!("{number}e-2").parse().ok()?;
    (0.0..=1.0).contains(&share).then_some(share)
}

/// Parts joined by `or`.
fn any(input: &mut Input<'_>, depth: usize) -> Parsed<Filter> {
    let mut parts = vec![all(input, depth)?];
    while opt(keyword("or")).parse_next(input)?.is_some() {
        parts.push(all(input, depth)?);
    }
    Ok(joined(parts, Filter::Any))
}

/// Parts joined by `and`.
fn all(input: &mut Input<'_>, depth: usize) -> Parsed<Filter> {
    let mut parts = vec![one(input, depth)?];
    while opt(keyword("and")).parse_next(input)?.is_some() {
        parts.push(one(input, depth)?);
    }
    Ok(joined(parts, Filter::All))
}

fn joined(mut parts: Vec<Filter>, join: fn(Vec<Filter>) -> Filter) -> Filter {
    if parts.len() > 1 { join(parts) } else { parts.remove(0) }
}

/// A test, a negation, or a filter in parentheses.
fn one(input: &mut Input<'_>, depth: usize) -> Parsed<Filter> {
    if depth > DEEPEST {
        let fault = stops(input, "a filter that is nested less deeply");
        return Err(ErrMode::Cut(fault));
    }
    if opt(keyword("not")).parse_next(input)?.is_some() {
        return one(input, depth + 1).map(|filter| Filter::Not(Box::new(filter)));
    }
    if opt(mark("(")).parse_next(input)?.is_some() {
        let filter = any(input, depth + 1)?;
        must("`and`, `or` or `)`", mark(")")).parse_next(input)?;
        return Ok(filter);
    }
    let name = must("a filter, such as queue = 'adhoc'", word).parse_next(input)?;
    let tested = tested(&name)?;
    condition(&name, tested, input)
}

/// What a test is about.
#[derive(Clone, Copy)]
enum Tested {
    Attribute(&'static Attribute),
    Quantity(&'static Quantity),
}

fn tested(name: &Word<'_>) -> Parsed<Tested> {
    let attribute = ATTRIBUTES.iter().find(|known| known.name == name.text).map(Tested::Attribute);
    let quantity = || QUANTITIES.iter().find(|known| known.name == name.text).map(Tested::Quantity);
    match attribute.or_else(quantity) {
        Some(tested) => Ok(tested),
        None => {
            let names = ATTRIBUTES.iter().map(|known| known.name).chain(QUANTITIES.iter().map(|known| known.name));
            name.unknown("an attribute or a quantity of a job", names)
        }
    }
}

impl Tested {
    fn name(self) -> &'static str {
        match self {
            Self::Attribute(attribute) => attribute.name,
            Self::Quantity(quantity) => quantity.name,
        }
    }

    fn text(self) -> Option<super::getters::Text> {
        match self {
            Self::Attribute(Attribute { value: Value::Text(of) | Value::Either(of, _), .. }) => Some(*of),
            _ => None,
        }
    }

    /// Its number and its unit.
    fn number(self) -> Option<(Of, &'static str)> {
        match self {
            Self::Attribute(Attribute { value: Value::Number(of, unit), .. }) => Some((Of::Attribute(*of), unit)),
            Self::Attribute(Attribute { value: Value::Either(_, of), .. }) => Some((Of::Attribute(*of), "")),
            Self::Quantity(quantity) => Some((Of::Quantity(quantity), quantity.unit)),
            Self::Attribute(_) => None,
        }
    }
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    Equal,
    Unequal,
    Compare(Comparison),
}

fn condition(name: &Word<'_>, tested: Tested, input: &mut Input<'_>) -> Parsed<Filter> {
    let test = |check| Filter::Test(Test { name: tested.name(), check });
    let negated = |filter: Filter, not: bool| if not { Filter::Not(Box::new(filter)) } else { filter };
    if opt(keyword("is")).parse_next(input)?.is_some() {
        let not = opt(keyword("not")).parse_next(input)?.is_some();
        must("`null` or `not null`", keyword("null")).parse_next(input)?;
        let unknown = match tested {
            Tested::Attribute(Attribute { value: Value::Class(..), .. }) => {
                return name.problem(format!("`{}` is never unknown; leave `is null` out", name.text));
            }
            tested => Check::Unknown(tested.text(), tested.number().map(|(of, _)| of)),
        };
        return Ok(negated(test(unknown), not));
    }
    let not = opt(keyword("not")).parse_next(input)?.is_some();
    if opt(keyword("in")).parse_next(input)?.is_some() {
        must("`(` and a list of values", mark("(")).parse_next(input)?;
        let mut values = vec![must("a value", literal).parse_next(input)?];
        while opt(mark(",")).parse_next(input)?.is_some() {
            values.push(must("a value", literal).parse_next(input)?);
        }
        must("`,` or `)`", mark(")")).parse_next(input)?;
        return Ok(negated(test(one_of_values(tested, values)?), not));
    }
    if opt(keyword("like")).parse_next(input)?.is_some() {
        let (pattern, _) = must("a text in single quotes, such as 'adhoc%'", text).parse_next(input)?;
        let Some(of) = tested.text() else {
            return name.problem(format!("`{}` is not a text, so it takes no `like`", name.text));
        };
        let pattern = TextTest::Like(Pattern(pattern.chars().collect()));
        return Ok(negated(test(Check::Text(of, pattern)), not));
    }
    if not {
        return Err(ErrMode::Cut(stops(input, "`in` or `like` after `not`")));
    }
    let relation = must("one of =, !=, <, <=, >, >=, in, like and is", relation).parse_next(input)?;
    let value = must("a value: a text in single quotes or a number", literal).parse_next(input)?;
    match relation {
        Relation::Equal => Ok(test(one_of_values(tested, vec![value])?)),
        Relation::Unequal => Ok(negated(test(one_of_values(tested, vec![value])?), true)),
        Relation::Compare(comparison) => {
            let Some((of, unit)) = tested.number() else {
                return name.problem(format!("`{}` is not a number; compare it by =, !=, in or like", name.text));
            };
            let number = value.number(unit)?;
            Ok(test(Check::Number(of, NumberTest::Compare(comparison, number))))
        }
    }
}

fn relation(input: &mut Input<'_>) -> Parsed<Relation> {
    use Comparison::{AtLeast, AtMost, Less, More};
    spaced(alt((
        "<=".value(Relation::Compare(AtMost)),
        ">=".value(Relation::Compare(AtLeast)),
        "!=".value(Relation::Unequal),
        "<>".value(Relation::Unequal),
        "<".value(Relation::Compare(Less)),
        ">".value(Relation::Compare(More)),
        "=".value(Relation::Equal),
    )))
    .parse_next(input)
}

/// The test that the value is one of these.
fn one_of_values(tested: Tested, values: Vec<Placed>) -> Parsed<Check> {
    let is_text = values.first().is_some_and(|value| matches!(value.literal, Literal::Text(_)));
    if let Tested::Attribute(Attribute { value: Value::Class(words, holds), .. }) = tested {
        let known = |value: Placed| value.word_of(words);
        return Ok(Check::Class(*holds, values.into_iter().map(known).collect::<Parsed<_>>()?));
    }
    match (tested.text(), tested.number()) {
        (Some(of), number) if is_text || number.is_none() => {
            let texts = values.into_iter().map(Placed::text).collect::<Parsed<_>>()?;
            Ok(Check::Text(of, TextTest::OneOf(texts)))
        }
        (_, Some((of, unit))) => {
            let numbers = values.into_iter().map(|value| value.number(unit)).collect::<Parsed<_>>()?;
            Ok(Check::Number(of, NumberTest::OneOf(numbers)))
        }
        _ => Ok(Check::Unknown(None, None)),
    }
}

/// A value with its place.
struct Placed {
    literal: Literal,
    at: Range<usize>,
}

impl Placed {
    fn problem<T>(&self, message: String) -> Parsed<T> {
        Err(ErrMode::Cut(Fault { at: self.at.clone(), message }))
    }

    fn text(self) -> Parsed<String> {
        match self.literal {
            Literal::Text(text) => Ok(text),
            Literal::Number(..) => self.problem("expected a text in single quotes, found a number".to_owned()),
        }
    }

    /// The number in this unit.
    fn number(&self, wanted: &'static str) -> Parsed<f64> {
        match self.literal {
            Literal::Number(number, unit) if unit == wanted || number == 0.0 && unit.is_empty() => Ok(number),
            Literal::Number(..) if wanted == "ms" => {
                self.problem("expected a time with its unit, such as 90s or 10min".to_owned())
            }
            Literal::Number(..) if wanted == "bytes" => {
                self.problem("expected a size with its unit, such as 64MiB or 2GB".to_owned())
            }
            Literal::Number(..) => self.problem("expected a number without a unit".to_owned()),
            Literal::Text(_) => self.problem("expected a number, found a text".to_owned()),
        }
    }

    /// The text, if it is one of these words.
    fn word_of(self, words: &[&str]) -> Parsed<String> {
        let at = self.at.clone();
        let text = self.text()?;
        if words.contains(&text.as_str()) {
            return Ok(text);
        }
        Word { text: &text, at }.unknown("one of the classes of size", words.iter().copied())
    }
}

fn literal(input: &mut Input<'_>) -> Parsed<Placed> {
    let text = text.map(|(text, at)| Placed { literal: Literal::Text(text), at });
    alt((text, number)).parse_next(input)
}

/// A text in single quotes; `''` stands for a quote in it.
fn text(input: &mut Input<'_>) -> Parsed<(String, Range<usize>)> {
    let before = *input;
    "'".parse_next(input)?;
    let parts = repeat(0.., alt((take_till(1.., '\''), "''".value("'")))).fold(String::new, |mut all, part: &str| {
        all.push_str(part);
        all
    });
    let closed = delimited("", parts, "'").with_span();
    let (text, inner) = spaced(closed).parse_next(input).map_err(|_: ErrMode<Fault>| {
        let start = before.current_token_start();
        let message = "expected a text in single quotes, but its closing quote is missing".to_owned();
        ErrMode::Cut(Fault { at: start..start + before.len(), message })
    })?;
    Ok((text, before.current_token_start()..inner.end))
}

/// A number with its unit, if it has one.
fn number(input: &mut Input<'_>) -> Parsed<Placed> {
    let digits = (opt('-'), digit1, opt(('.', digit1))).take().parse_to::<f64>();
    let (number, at) = spaced(digits.with_span()).parse_next(input)?;
    let touches = at.end == input.current_token_start();
    let unit = opt(alt((word, spaced("%".with_span()).map(|(text, at)| Word { text, at })))
        .verify(|word: &Word<'_>| touches || UNITS.iter().any(|unit| unit.0 == word.text)))
    .parse_next(input)?;
    let Some(unit) = unit else { return Ok(Placed { literal: Literal::Number(number, ""), at }) };
    match UNITS.iter().find(|known| known.0 == unit.text) {
        Some(&(_, factor, base)) => {
            let literal = Literal::Number(number * factor, base);
            Ok(Placed { literal, at: at.start..unit.at.end })
        }
        None => match OTHER_UNITS.iter().find(|(other, _)| *other == unit.text) {
            Some((other, ours)) => unit.problem(format!("expected a unit, found `{other}`; did you mean `{ours}`?")),
            None => unit.unknown("a unit", UNITS.iter().map(|known| known.0)),
        },
    }
}
