//! Where whole layers in assembler find the lists of a pruned map (layout `sparse`).

use super::super::format::QuantizedView;
use super::super::pairs::spans;
use super::words::words;
use crate::spec::Architecture;

/// Lists of a map, and how far a layer has come with them. Null pointers of a dense one.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ListArgs {
    /// The list of the next four rows.
    pub(super) list: *const u8,
    /// Its end; the assembler computes it.
    pub(super) list_end: *const u8,
    /// Where the lists from the next one on end, counted from `indices`.
    pub(super) ends: *const u32,
    /// The first list.
    pub(super) indices: *const u8,
}

// Loaded in pairs.
const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(ListArgs, list_end) == offset_of!(ListArgs, list) + size_of::<*const u8>());
    assert!(offset_of!(ListArgs, indices) == offset_of!(ListArgs, ends) + size_of::<*const u8>());
};

impl ListArgs {
    /// `None` if each group has several lists, or if the ends are not at a multiple of four.
    #[inline(always)]
    pub(super) fn new<A: Architecture>(map: &QuantizedView<'_, A>) -> Option<Self> {
        if map.lists().is_empty() {
            let none = core::ptr::null();
            return Some(ListArgs { list: none, list_end: none, ends: core::ptr::null(), indices: none });
        }
        Self::of_lists(map)
    }

    #[inline(never)] // a dense layer has no use for it
    fn of_lists<A: Architecture>(map: &QuantizedView<'_, A>) -> Option<Self> {
        let (ends, list) = (words(map.lists().ends.as_flattened())?, map.lists().indices.as_ptr());
        let one_each = spans(map.padded) == 1 && ends.len() >= map.padded.groups;
        one_each.then_some(ListArgs { list, list_end: list, ends: ends.as_ptr(), indices: list })
    }
}
