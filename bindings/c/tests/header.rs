//! `include/quaver.h` is what cbindgen makes of the sources. To refresh it:
//! `QUAVER_REFRESH=1 cargo test --test header`.

use std::path::Path;
use std::{env, fs};

/// Types of the boundary that are pointers in C.
const POINTERS: [&str; 3] = ["Input_", "Output_", "Handle_"];

#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    cbindgen::generate(folder).expect("a header").write(&mut made);
    let made = with_plain_pointers(&String::from_utf8(made).expect("text"));
    let path = folder.join("include/quaver.h");
    if env::var_os("QUAVER_REFRESH").is_some() {
        fs::write(&path, &made).expect("a header that can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let differing = found.lines().zip(made.lines()).position(|(found, made)| found != made);
    assert!(
        found == made,
        "include/quaver.h is not current, line {:?} differs; to refresh it: \
         QUAVER_REFRESH=1 cargo test --test header",
        differing.map(|line| line + 1)
    );
}

/// cbindgen writes a typedef for each pointer of the boundary; a reader of the header wants the pointer.
fn with_plain_pointers(header: &str) -> String {
    let paragraphs = header.split("\n\n");
    let (typedefs, others): (Vec<&str>, Vec<&str>) =
        paragraphs.partition(|paragraph| typedef(paragraph).is_some());
    let mut text = others.join("\n\n");
    // A handle may be the type of an output: that one is replaced first.
    let mut pointers: Vec<(&str, &str)> = typedefs.into_iter().filter_map(typedef).collect();
    pointers.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for (name, pointed_to) in pointers {
        text = text.replace(&format!("{name} "), &format!("{pointed_to} *"));
    }
    text.replace(" * *", " **")
        .replace("struct quaver_", "quaver_")
        .replace("typedef quaver_", "typedef struct quaver_")
}

/// Name and pointed-to type of a typedef of the boundary.
fn typedef(paragraph: &str) -> Option<(&str, &str)> {
    let line = paragraph.lines().last()?.strip_prefix("typedef ")?.strip_suffix(';')?;
    let (pointed_to, name) = line.split_once('*')?;
    POINTERS.iter().any(|prefix| name.starts_with(prefix)).then_some((name, pointed_to.trim_end()))
}
