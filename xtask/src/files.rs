//! Files of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Every Rust file below a folder, in order of its path; folders of build products are left out.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
