//! A look into firmware images: symbols, and the flash they fill.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use object::elf::{SHF_ALLOC, SHF_WRITE, SHT_NOBITS};
use object::{File, Object, ObjectSection, ObjectSymbol, SectionFlags};

/// The names of all symbols in an image.
pub(crate) fn symbols(path: &Path) -> Result<Vec<String>> {
    read(path, |file| {
        let names = file.symbols().filter_map(|symbol| symbol.name().ok());
        Ok(names.filter(|name| !name.is_empty()).map(String::from).collect())
    })
}

/// Global symbols of an object, or of a library as programs see it.
pub(crate) struct Linkage {
    pub(crate) defined: Vec<String>,
    pub(crate) undefined: Vec<String>,
}

/// The global symbols of an object.
pub(crate) fn linkage(path: &Path) -> Result<Linkage> {
    read(path, |file| {
        let names = |undefined: bool| {
            let wanted =
                file.symbols().filter(move |symbol| symbol.is_global() && symbol.is_undefined() == undefined);
            wanted
                .filter_map(|symbol| symbol.name().ok())
                .filter(|name| !name.is_empty())
                .map(String::from)
                .collect()
        };
        Ok(Linkage { defined: names(false), undefined: names(true) })
    })
}

/// The symbols that a shared library exports.
pub(crate) fn dynamic_symbols(path: &Path) -> Result<Vec<String>> {
    read(path, |file| {
        let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        Ok(defined.filter_map(|symbol| symbol.name().ok()).map(String::from).collect())
    })
}

/// Bytes of the first symbol whose name contains `part`.
pub(crate) fn symbol_bytes(path: &Path, part: &str) -> Result<u64> {
    read(path, |file| {
        let mut sized = file.symbols().filter(|symbol| symbol.size() > 0);
        let found = sized.find(|symbol| symbol.name().is_ok_and(|name| name.contains(part)));
        found.map(|symbol| symbol.size()).ok_or_else(|| anyhow!("there is no symbol {part}"))
    })
}

/// Bytes of flash that an image fills beyond the model that it embeds.
pub(crate) fn code_bytes(path: &Path) -> Result<u64> {
    Ok(flash_bytes(path)? - symbol_bytes(path, "CHECKPOINT")?)
}

/// Functions of heaps.
const HEAP_SYMBOLS: [&str; 8] =
    ["__rust_alloc", "__rust_realloc", "__rdl_alloc", "__rg_alloc", "malloc", "calloc", "realloc", "_sbrk"];

/// Those of these symbols that are functions of heaps.
pub(crate) fn heap_symbols(symbols: &[String]) -> Vec<String> {
    let is_heap = |symbol: &&String| HEAP_SYMBOLS.iter().any(|heap| symbol.contains(heap));
    symbols.iter().filter(is_heap).cloned().collect()
}

/// Bytes of RAM that an image fills before it runs: variables, without the stack.
pub(crate) fn ram_bytes(path: &Path) -> Result<u64> {
    read(path, |file| {
        Ok(file.sections().filter(|section| is_in_ram(section.flags())).map(|section| section.size()).sum())
    })
}

fn is_in_ram(flags: SectionFlags) -> bool {
    match flags {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(SHF_ALLOC) && sh_flags.contains(SHF_WRITE),
        _ => false,
    }
}

/// Bytes of flash that an image fills: code, constants and initial values.
pub(crate) fn flash_bytes(path: &Path) -> Result<u64> {
    read(path, |file| {
        Ok(file.sections().filter(|section| is_in_flash(section.flags())).map(|section| section.size()).sum())
    })
}

/// Sections that are loaded and have bytes in the file.
fn is_in_flash(flags: SectionFlags) -> bool {
    match flags {
        SectionFlags::Elf { sh_type, sh_flags } => sh_flags.contains(SHF_ALLOC) && sh_type != SHT_NOBITS,
        _ => false,
    }
}

fn read<T>(path: &Path, look: impl FnOnce(&File<'_>) -> Result<T>) -> Result<T> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = File::parse(&*bytes).with_context(|| format!("{} is no image", path.display()))?;
    look(&file).with_context(|| format!("in {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn this_program_has_symbols_and_bytes() {
        let program = std::env::current_exe().expect("a running program");
        assert!(symbols(&program).expect("an image").iter().any(|name| name == "main"));
        assert!(symbol_bytes(&program, "this_program_has_symbols").expect("a symbol") > 0);
        let flash = flash_bytes(&program).expect("an image");
        assert!(flash > 0 && flash < fs::metadata(&program).expect("a file").len());
    }

    #[test]
    fn heap_functions_are_found_under_their_mangled_names() {
        let symbols = ["Reset", "_RNvCs2bBX_7___rustc12___rust_alloc", "main", "malloc"].map(String::from);
        assert_eq!(heap_symbols(&symbols), ["_RNvCs2bBX_7___rustc12___rust_alloc", "malloc"]);
    }

    #[test]
    fn a_text_is_no_image() {
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(symbols(&text).expect_err("no image").to_string().contains("is no image"));
    }
}
