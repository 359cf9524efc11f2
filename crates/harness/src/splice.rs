//! Putting generated text between two markers of a document.

use crate::files::HarnessError;

/// The text of `content` with what stands between `<!-- results:begin NAME -->` and `<!-- results:end NAME
/// -->` replaced by what `generated` gives for NAME. Markers stand on lines of their own and stay. `document`
/// names the text in errors.
///
/// ```
/// let readme = "before\n<!-- results:begin coin -->\nstale\n<!-- results:end coin -->\nafter\n";
/// let fresh = tamis_harness::splice("README.md", readme, |name| (name == "coin").then(|| "fresh\n".to_owned()))?;
/// assert_eq!(fresh, "before\n<!-- results:begin coin -->\nfresh\n<!-- results:end coin -->\nafter\n");
/// # Ok::<(), tamis_harness::HarnessError>(())
/// ```
///
/// # Errors
/// If a marker has no partner, or `generated` knows nothing of its name: that text could only be stale.
pub fn splice(
    document: &str,
    content: &str,
    generated: impl Fn(&str) -> Option<String>,
) -> Result<String, HarnessError> {
    let mut fresh = String::with_capacity(content.len());
    let mut open: Option<(&str, usize)> = None;
    for (number, line) in content.split_inclusive('\n').enumerate() {
        let wrong = |problem: String| HarnessError::Splice { document: document.to_owned(), line: number + 1, problem };
        match (marker(line, "begin"), marker(line, "end"), open) {
            (Some(name), _, None) => {
                fresh += line;
                fresh += &generated(name).ok_or_else(|| wrong(format!("no experiment is called {name:?}")))?;
                open = Some((name, number + 1));
            }
            (Some(name), _, Some((outer, _))) => return Err(wrong(format!("{name:?} begins inside {outer:?}"))),
            (_, Some(name), Some((expected, _))) if name == expected => {
                fresh += line;
                open = None;
            }
            (_, Some(name), _) => return Err(wrong(format!("{name:?} ends here but has not begun"))),
            (None, None, None) => fresh += line,
            (None, None, Some(_)) => (), // stale
        }
    }
    match open {
        Some((name, line)) => Err(HarnessError::Splice {
            document: document.to_owned(),
            line,
            problem: format!("{name:?} begins here and never ends"),
        }),
        None => Ok(fresh),
    }
}

fn marker<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    line.trim().strip_prefix("<!-- results:")?.strip_prefix(kind)?.strip_suffix("-->").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::splice;

    fn spliced(content: &str) -> Result<String, String> {
        splice("README.md", content, |name| (name.len() == 1).then(|| format!("<{name}>\n")))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn splicing_is_repeatable_and_touches_nothing_else() {
        let readme = "x\r\n<!-- results:begin a -->\n<!-- results:end a -->\ny\n<!--results:begin b-->\n1\n2\n<!-- results:begin b -->\n1\n<!-- results:end b -->\nlast";
        let once = spliced(readme).expect("well-formed");
        assert_eq!(
            once,
            "x\r\n<!-- results:begin a -->\n<a>\n<!-- results:end a -->\ny\n<!--results:begin b-->\n1\n2\n<!-- results:begin b -->\n<b>\n<!-- results:end b -->\nlast"
        );
        assert_eq!(spliced(&once), Ok(once.clone()));
    }

    #[test]
    fn markers_that_do_not_pair_are_refused() {
        let cases = [
            ("\n<!-- results:begin a -->\n", "README.md, line 2: \"a\" begins here and never ends"),
            ("<!-- results:end a -->\n", "README.md, line 1: \"a\" ends here but has not begun"),
            ("<!-- results:begin a -->\n<!-- results:begin b -->\n", "README.md, line 2: \"b\" begins inside \"a\""),
            (
                "<!-- results:begin a -->\n<!-- results:end b -->\n",
                "README.md, line 2: \"b\" ends here but has not begun",
            ),
            (
                "<!-- results:begin other -->\n<!-- results:end other -->\n",
                "README.md, line 1: no experiment is called \"other\"",
            ),
        ];
        for (content, error) in cases {
            assert_eq!(spliced(content), Err(error.to_owned()));
        }
    }
}
