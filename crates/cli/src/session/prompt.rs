//! What may be typed at the prompt of `tamis session ask`.

use crate::failure::Failure;
use crate::input::not_text;
use crate::output::quoted;
use tamis::queries::{KeyKind, Keys};

/// A line that was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    /// Nothing, or a word that ends a conversation.
    End,
    /// A word that asks how.
    Help,
    /// Everything else: it is paid for.
    Query(&'a str),
}

impl<'a> Typed<'a> {
    /// # Errors
    /// If it is no UTF-8.
    pub fn of(line: &'a [u8], number: u64) -> Result<Self, Failure> {
        let text = std::str::from_utf8(line).map_err(|_| not_text(number))?.trim_end_matches(['\n', '\r']);
        Ok(match text.trim() {
            "" | "quit" | "exit" => Self::End,
            "help" | "?" => Self::Help,
            _ => Self::Query(text),
        })
    }
}

/// What stands above the first prompt.
pub fn invitation(keys: &Keys) -> String {
    let how = match keys.kind() {
        KeyKind::Bits(_) => "a conjunction as {\"literal\": true, …}, or a query as a JSON object".to_owned(),
        KeyKind::Text if keys.columns().len() == 1 => {
            "for keys with commas between them, or a query as a JSON object".to_owned()
        }
        KeyKind::Text => {
            format!("for one key, {} with commas between them, or for several as a JSON object", quoted(keys.columns()))
        }
    };
    format!("Ask {how}. help says more; quit or an empty line ends.")
}

/// What is answered to `help`.
pub fn help(keys: &Keys) -> String {
    let columns = keys.columns();
    let examples = match keys.kind() {
        KeyKind::Bits(names) => {
            let literal = names.names().first().map_or("literal", String::as_str);
            let literal = format!("{{{literal:?}: true, …}}");
            [
                (literal.clone(), "counts the rows on which all of it holds"),
                (format!("{{\"name\": \"mine\", \"conjunction\": {literal}}}"), "the same under a name of your own"),
            ]
        }
        KeyKind::Text if columns.len() == 1 => [
            ("ann,bob".to_owned(), "counts the rows with one of these keys"),
            ("{\"name\": \"mine\", \"keys\": [\"ann\", \"bob\"]}".to_owned(), "the same under a name of your own"),
        ],
        KeyKind::Text => {
            let key = quoted(columns);
            [
                (columns.join(","), "counts the rows with this one key"),
                (format!("{{\"name\": \"mine\", \"keys\": [[{key}], [{key}]]}}"), "counts those with one of several"),
            ]
        }
    };
    let width = examples.iter().map(|(example, _)| example.chars().count()).fold(0, usize::max);
    let lines = examples.iter().map(|(example, meaning)| format!("  {example:<width$}  {meaning}\n"));
    format!(
        "Every query is answered once and kept: asked again it gets the same answer. A query is\n{}\
         quit, exit and an empty line end; help and ? print this; a key of that name is asked for in a JSON object.",
        lines.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis::queries::{Columns, FingerprintKey};

    fn keys(columns: &[&str], kind: KeyKind) -> Keys {
        Keys::new(columns.iter().copied(), kind, FingerprintKey::new([0; 16])).unwrap()
    }

    #[test]
    fn words_that_end_or_ask_are_no_queries() {
        for end in ["", "\n", " \r\n", "quit\n", "exit", " quit \r\n"] {
            assert_eq!(Typed::of(end.as_bytes(), 1).unwrap(), Typed::End, "{end:?}");
        }
        for help in ["help\n", "?", " ? \n"] {
            assert_eq!(Typed::of(help.as_bytes(), 1).unwrap(), Typed::Help, "{help:?}");
        }
        for query in ["quit,exit", "Quit", "helper", "{\"name\": \"q\", \"keys\": [\"quit\"]}", " ann"] {
            assert_eq!(Typed::of(format!("{query}\r\n").as_bytes(), 1).unwrap(), Typed::Query(query));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_complained_of() {
        let failure = Typed::of(b"a\xff\n", 3).unwrap_err();
        assert_eq!(failure.message(), "line 3 is not valid UTF-8");
    }

    /// What is shown can be typed.
    #[test]
    fn help_is_of_the_kind_of_keys() {
        let bits = KeyKind::Bits(Columns::new(["old", "married"].map(str::to_owned).to_vec()).unwrap());
        for (keys, invited, helped) in [
            (keys(&["name"], KeyKind::Text), "for keys with commas", "\"keys\": [\"ann\", \"bob\"]"),
            (keys(&["given", "family"], KeyKind::Text), "for one key, \"given\", \"family\"", "  given,family  "),
            (keys(&["bits"], bits), "a conjunction", "\"conjunction\": {\"old\": true, …}"),
        ] {
            assert!(invitation(&keys).contains(invited), "{}", invitation(&keys));
            assert!(help(&keys).contains(helped), "{}", help(&keys));
        }
    }
}
