//! Names that Hadoop's formats share.

/// The rack (with its leading slash) and the host in `/rack/host`; a name without a slash in front is a host alone.
pub fn split_rack_and_host(name: &str) -> (Option<String>, Option<String>) {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match name.rsplit_once('/') {
        Some((rack, host)) if name.starts_with('/') => (known(rack), known(host)),
        _ => (None, known(name)),
    }
}

/// The job id in the name of a history or conf: the first `job_<digits>_<digits>`.
pub fn job_id_in_name(name: &str) -> Option<String> {
    name.match_indices("job_").find_map(|(at, prefix)| {
        let (cluster, rest) = digits(name.get(at + prefix.len()..)?)?;
        let (number, _) = digits(rest.strip_prefix('_')?)?;
        Some(format!("job_{cluster}_{number}"))
    })
}

/// The digits at the start of `text`, at least one, and the rest.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rack_keeps_its_slash() {
        let parts = |name| {
            let (rack, host) = split_rack_and_host(name);
            (rack.unwrap_or_default(), host.unwrap_or_default())
        };
        let pair = |rack: &str, host: &str| (rack.to_owned(), host.to_owned());
        assert_eq!(parts("/default-rack/h1.x"), pair("/default-rack", "h1.x"));
        assert_eq!(parts("/dc/rack/h"), pair("/dc/rack", "h"));
        assert_eq!(parts("h"), pair("", "h"));
        assert_eq!(parts("/h"), pair("", "h"));
        assert_eq!(parts(""), pair("", ""));
        assert_eq!(parts("localhost/127.0.0.1"), pair("", "localhost/127.0.0.1"));
    }

    #[test]
    fn the_job_id_is_found_in_every_style_of_name() {
        for (name, id) in [
            ("jt_1240335959557_job_200904211745_0004_geek3_daily.UK.web%2Fx", Some("job_200904211745_0004")),
            ("mega_1265616107882_job_201002080801_40864_job_name-DAILY.gz", Some("job_201002080801_40864")),
            ("job_name_job_12_3_conf.xml", Some("job_12_3")),
            ("job_1526555215992_0001-1526555642677-user.jhist", Some("job_1526555215992_0001")),
            ("job_2.4.0-FAILED.jhist", None),
            ("job_", None),
        ] {
            assert_eq!(job_id_in_name(name).as_deref(), id, "{name}");
        }
    }
}
