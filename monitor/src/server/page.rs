//! The page: one document without any reference to another.

use std::fmt::Write as _;

const DOCUMENT: &str = include_str!("../../page/index.html");
/// What replaces which mark. The order is that in which scripts run.
const PARTS: [(&str, &str); 4] = [
    ("/* uPlot.css */", include_str!("../../page/vendor/uPlot.min.css")),
    ("/* style.css */", include_str!("../../page/style.css")),
    ("/* uPlot.js */", include_str!("../../page/vendor/uPlot.iife.min.js")),
    (
        "/* page.js */",
        concat!(
            "\"use strict\";\n",
            include_str!("../../page/store.js"),
            include_str!("../../page/charts.js"),
            include_str!("../../page/page.js")
        ),
    ),
];
/// Where the number goes that allows the scripts of this document, and no others, to run.
const NONCE: &str = "NONCE";

/// The document, and the value of its content security policy.
pub(super) fn document() -> (String, String) {
    let nonce = nonce();
    let page =
        PARTS.iter().fold(DOCUMENT.replace(NONCE, &nonce), |page, (mark, part)| page.replacen(mark, part, 1));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    (page, policy)
}

fn nonce() -> String {
    let mut bytes = [0; 12];
    // Without random numbers nothing is allowed to run, which is safe.
    if getrandom::fill(&mut bytes).is_err() {
        return String::new();
    }
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_one_document_without_references() {
        let (page, policy) = document();
        for (mark, part) in PARTS {
            assert!(page.contains(part.trim()) && !page.contains(mark), "{mark}");
        }
        for reference in ["src=\"", "href=\"http", "@import", "url(http", "NONCE"] {
            assert!(!page.contains(reference), "{reference}");
        }
        let nonce = policy.split("nonce-").nth(1).and_then(|rest| rest.split('\'').next()).expect("a nonce");
        assert_eq!(page.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert_ne!(policy, document().1);
    }
}
