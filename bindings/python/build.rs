//! Linker arguments of extension modules, which only macOS needs: Python's symbols are found at run time.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
