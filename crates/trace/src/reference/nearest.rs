//! The known word that is nearest to a misspelt one.

/// `; did you mean …?` if one of the words is close to this one, else nothing.
pub fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> String {
    let best =
        words.map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()), known)).min();
    match best {
        Some((distance, known)) if distance <= known.len().max(3) / 2 => format!("; did you mean `{known}`?"),
        _ => String::new(),
    }
}
