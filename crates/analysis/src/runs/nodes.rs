//! The nodes of a run by name.

use std::cmp::Ordering;

use hashbrown::HashMap;

use crate::runs::spans::NodeNumber;

/// The nodes that ran attempts, each once, in the order in which they first appear.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nodes {
    names: Vec<String>,
    numbers: HashMap<String, Option<NodeNumber>>,
    /// The numbers of the nodes of a replay, by the numbers that the engine gave them.
    of_replay: HashMap<u32, Option<NodeNumber>>,
}

impl Nodes {
    /// The number of the node of that name.
    pub(crate) fn number(&mut self, name: &str) -> Option<NodeNumber> {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let number = NodeNumber::of(self.names.len());
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of a node of a replay, whose name is looked up if it appears for the first time.
    pub(crate) fn number_of<'n>(&mut self, node: u32, name: impl FnOnce() -> &'n str) -> Option<NodeNumber> {
        if let Some(&known) = self.of_replay.get(&node) {
            return known;
        }
        let number = self.number(name());
        self.of_replay.insert(node, number);
        number
    }

    /// The names by number.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// The places of `names` in the order in which people count: `node9` before `node10`.
pub fn in_order(names: &[String]) -> Vec<usize> {
    let mut places: Vec<(usize, &str)> = names.iter().map(String::as_str).enumerate().collect();
    places.sort_by(|a, b| by_numbers(a.1, b.1).then(a.cmp(b)));
    places.into_iter().map(|(place, _)| place).collect()
}

/// Compares texts with the numbers in them by their values.
fn by_numbers(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (Some(first), Some(second)) = (part(a), part(b)) else { return a.cmp(b) };
        let digits = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
        let order = match digits(first) && digits(second) {
            // Without leading zeros, the longer number is the larger one.
            true => {
                let [first, second] = [first, second].map(|number| number.trim_start_matches('0'));
                first.len().cmp(&second.len()).then(first.cmp(second))
            }
            false => first.cmp(second),
        };
        if order.is_ne() {
            return order;
        }
        (a, b) = (a.get(first.len()..).unwrap_or_default(), b.get(second.len()..).unwrap_or_default());
    }
}

/// The digits, or else the other letters, that a text begins with; `None` at its end.
fn part(text: &str) -> Option<&str> {
    let is_digit = text.chars().next()?.is_ascii_digit();
    text.get(..text.find(|letter: char| letter.is_ascii_digit() != is_digit).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_in_the_order_in_which_people_count() {
        let names = ["r2/n1", "r1/n10", "r1/n9", "r1/n09", "r10/n1", "", "x", "r1"].map(str::to_owned);
        let sorted: Vec<&str> = in_order(&names).into_iter().map(|place| names[place].as_str()).collect();
        assert_eq!(sorted, ["", "r1", "r1/n9", "r1/n09", "r1/n10", "r2/n1", "r10/n1", "x"]);
    }

    #[test]
    fn a_node_keeps_its_number() {
        let mut nodes = Nodes::default();
        let numbers = ["b", "a", "b"].map(|name| nodes.number(name).map(NodeNumber::place));
        assert_eq!(numbers, [Some(0), Some(1), Some(0)]);
        assert_eq!(nodes.into_names(), ["b", "a"]);
    }
}
