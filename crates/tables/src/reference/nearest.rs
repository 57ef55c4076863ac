//! The known word that is nearest to a misspelt one.

/// The most words that a hint names.
const MOST_NAMED: usize = 2;

/// `; did you mean …?` if one of the words is close to this one, or has a part that is (`delay_node` for `dely`), else nothing.
pub fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.collect();
    let best = words
        .iter()
        .copied()
        .map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()), known))
        .min();
    match best {
        Some((distance, known)) if distance <= known.len().max(3) / 2 => format!("; did you mean `{known}`?"),
        _ => with_a_near_part(word, &words),
    }
}

/// Whether a word is another one with one letter too many, too few, wrong, or two in the wrong order.
pub fn is_one_letter_off(word: &str, known: &str) -> bool {
    strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()) == 1
}

/// The same for words of several parts, such as `delay_node`.
fn with_a_near_part(word: &str, words: &[&str]) -> String {
    let is_near = |part: &str| {
        let distance = strsim::damerau_levenshtein(&word.to_lowercase(), &part.to_lowercase());
        part.len() >= LEAST_PART && distance <= part.len() / 3
    };
    let near: Vec<String> = words
        .iter()
        .filter(|known| known.split(['_', '-', '.']).any(is_near))
        .take(MOST_NAMED)
        .map(|known| format!("`{known}`"))
        .collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// The least number of letters of a part that a hint may rest on.
const LEAST_PART: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_may_be_wrong() {
        for word in ["yran", "yar", "yarns", "Yorn"] {
            assert!(is_one_letter_off(word, "yarn"), "{word}");
        }
        for word in ["yarn", "YARN", "ya", "hive", ""] {
            assert!(!is_one_letter_off(word, "yarn"), "{word}");
        }
    }

    #[test]
    fn a_word_or_one_of_its_parts_is_named() {
        let known = ["update", "delay_node", "delay_rack", "D"];
        let hint = |word| nearest(word, known.iter().copied());
        assert_eq!(hint("updat"), "; did you mean `update`?");
        assert_eq!(hint("dely"), "; did you mean `delay_node` or `delay_rack`?");
        assert_eq!(hint("delay-node"), "; did you mean `delay_node`?");
        assert_eq!(hint("zzzzzzzz"), "");
    }
}
