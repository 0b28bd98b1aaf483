//! The boundary to C: pointers become slices and streams here, and nowhere else.
//!
//! Values of [`Input`], [`Output`] and [`Handle`] come from C. Their fields are private, so that no safe code
//! of this crate makes one up; what C promises for them is in the header, and what can be told is checked:
//! null, misaligned, too long and overlapping pointers, and handles that are none.
//!
//! A handle points to a [`Slot`] at the start of the caller's arena: a [`Guard`], the stream, and after it
//! the words of the stream. The guard names the place and the kind of the stream, so that copied, overwritten
//! and wrong handles are found, and whether a call is under way.

#![allow(unsafe_code)] // every dereference of a pointer of the caller

use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of};
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::codes::QUAVER_ARENA_ALIGNMENT;
use crate::results::{QuaverAdaptOptions, QuaverInfo, QuaverOutput, QuaverScore};
use crate::status::Status;

/// A pointer to values that are read.
#[repr(transparent)]
#[derive(Debug)]
pub struct Input<T>(*const T);

/// A pointer to values that are written.
#[repr(transparent)]
#[derive(Debug)]
pub struct Output<T>(*mut T);

/// A pointer to a stream of a kind.
#[repr(transparent)]
#[derive(Debug)]
pub struct Handle<K>(*mut K);

/// Types of which every bit pattern is a value, so that memory of C can hold any.
///
/// # Safety
/// All bits zero must be a value, and so must every other pattern.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: integers and floats have no invalid patterns.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for usize {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: floats and integers alone, with the layout of C.
unsafe impl Plain for QuaverOutput {}
// SAFETY: as above.
unsafe impl Plain for QuaverScore {}
// SAFETY: as above.
unsafe impl Plain for QuaverInfo {}
// SAFETY: as above.
unsafe impl Plain for QuaverAdaptOptions {}

/// A kind of stream, named by its opaque type in C.
pub(crate) trait Kind {
    /// What a handle of this kind holds.
    type Stream: 'static;
    /// Marks a slot of this kind: four letters.
    const TAG: u32;
    /// Words that the slot may take: a constant of the header.
    const WORDS: usize;
    /// Whether the slot fits; used in a constant.
    const FITS: () = assert!(
        size_of::<Slot<Self::Stream>>() <= 4 * Self::WORDS
            && align_of::<Slot<Self::Stream>>() <= QUAVER_ARENA_ALIGNMENT
    );
}

/// Addresses of an argument, of an arena or of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    start: usize,
    bytes: usize,
    written: bool,
}

impl Region {
    const EMPTY: Region = Region { start: 0, bytes: 0, written: false };

    /// An error if both share a byte and one of them is written.
    fn check_apart(self, other: Region) -> Result<(), Status> {
        // Neither sum can leave the address space: `checked` has seen both.
        let apart = self.start + self.bytes <= other.start || other.start + other.bytes <= self.start;
        let harmless = apart || self.bytes == 0 || other.bytes == 0 || !(self.written || other.written);
        if harmless { Ok(()) } else { Err(Status::OVERLAP) }
    }
}

/// The region of `count` values at a pointer, if it can be one: not null unless it is empty, aligned, and
/// inside of the address space.
fn checked<T>(pointer: *const T, count: usize, written: bool) -> Result<Region, Status> {
    if count == 0 {
        return Ok(Region::EMPTY);
    }
    if pointer.is_null() {
        return Err(Status::NULL);
    }
    if !pointer.is_aligned() {
        return Err(Status::MISALIGNED);
    }
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize);
    let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes));
    let (Some(bytes), Some(_)) = (bytes, end) else { return Err(Status::RANGE) };
    Ok(Region { start: pointer.addr(), bytes, written })
}

/// `count` values that a call reads.
pub(crate) struct Inputs<T> {
    pointer: *const T,
    count: usize,
}

/// `count` values that a call writes.
pub(crate) struct Outputs<T> {
    pointer: *mut T,
    count: usize,
}

impl<T> Input<T> {
    /// The values at the pointer.
    pub(crate) fn many(self, count: usize) -> Inputs<T> {
        Inputs { pointer: self.0, count }
    }

    /// The value at the pointer.
    pub(crate) fn one(self) -> Inputs<T> {
        self.many(1)
    }
}

impl Input<c_void> {
    /// The bytes at the pointer.
    pub(crate) fn bytes(self, count: usize) -> Inputs<u8> {
        Inputs { pointer: self.0.cast(), count }
    }
}

impl<T> Input<T> {
    /// No values.
    pub(crate) fn none() -> Self {
        Input(ptr::null())
    }
}

impl Output<c_char> {
    /// Text of `size` bytes.
    pub(crate) fn text(self, size: usize) -> Outputs<u8> {
        Outputs { pointer: self.0.cast(), count: size }
    }
}

/// A value that a call reads and changes.
pub(crate) struct InPlace<T>(*mut T);

impl Output<c_void> {
    /// The value at the pointer, which is kept.
    pub(crate) fn kept<T>(self) -> InPlace<T> {
        InPlace(self.0.cast())
    }
}

impl<T: Plain + 'static> Arguments for InPlace<T> {
    type Slices<'s> = &'s mut T;

    fn regions(&self) -> Result<[Region; 3], Status> {
        Ok([checked(self.0, 1, true)?, Region::EMPTY, Region::EMPTY])
    }

    unsafe fn slices<'s>(self) -> Self::Slices<'s> {
        // SAFETY: `checked` has seen the pointer; any bits are values of a plain type.
        unsafe { &mut *self.0 }
    }
}

impl<T> Output<T> {
    /// The values at the pointer.
    pub(crate) fn many(self, count: usize) -> Outputs<T> {
        Outputs { pointer: self.0, count }
    }

    /// The value at the pointer.
    pub(crate) fn one(self) -> Outputs<T> {
        self.many(1)
    }

    /// The value at the pointer, or none if that is null.
    pub(crate) fn optional(self) -> Outputs<T> {
        let count = usize::from(!self.0.is_null());
        self.many(count)
    }
}

/// Arguments of a call: checked together, then seen as slices.
pub(crate) trait Arguments {
    /// The slices.
    type Slices<'s>;

    /// Their regions, unused ones empty.
    fn regions(&self) -> Result<[Region; 3], Status>;

    /// The slices.
    ///
    /// # Safety
    /// The regions are memory as the header describes, and apart from everything that is written.
    unsafe fn slices<'s>(self) -> Self::Slices<'s>;
}

impl Arguments for () {
    type Slices<'s> = ();

    fn regions(&self) -> Result<[Region; 3], Status> {
        Ok([Region::EMPTY; 3])
    }

    unsafe fn slices<'s>(self) -> Self::Slices<'s> {}
}

impl<T: Plain + 'static> Arguments for Inputs<T> {
    type Slices<'s> = &'s [T];

    fn regions(&self) -> Result<[Region; 3], Status> {
        Ok([checked(self.pointer, self.count, false)?, Region::EMPTY, Region::EMPTY])
    }

    unsafe fn slices<'s>(self) -> Self::Slices<'s> {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: `checked` has seen the pointer; the caller of C promises that the values are there, and
        // any bits are values of a plain type.
        unsafe { slice::from_raw_parts(self.pointer, self.count) }
    }
}

impl<T: Plain + 'static> Arguments for Outputs<T> {
    type Slices<'s> = &'s mut [T];

    fn regions(&self) -> Result<[Region; 3], Status> {
        Ok([checked(self.pointer, self.count, true)?, Region::EMPTY, Region::EMPTY])
    }

    unsafe fn slices<'s>(self) -> Self::Slices<'s> {
        if self.count == 0 {
            return &mut [];
        }
        // SAFETY: as for inputs, and no other slice overlaps. C may not have initialised the memory: zeros
        // are values of a plain type.
        unsafe {
            ptr::write_bytes(self.pointer, 0, self.count);
            slice::from_raw_parts_mut(self.pointer, self.count)
        }
    }
}

impl<A: Arguments, B: Arguments> Arguments for (A, B) {
    type Slices<'s> = (A::Slices<'s>, B::Slices<'s>);

    /// Of both; neither has more than one of its own, or the second is a pair.
    fn regions(&self) -> Result<[Region; 3], Status> {
        let [first, ..] = self.0.regions()?;
        let [second, third, _] = self.1.regions()?;
        Ok([first, second, third])
    }

    unsafe fn slices<'s>(self) -> Self::Slices<'s> {
        // SAFETY: the caller's promise for both.
        unsafe { (self.0.slices(), self.1.slices()) }
    }
}

/// An error if any two regions overlap in memory that is written.
fn check_all_apart(regions: &[Region]) -> Result<(), Status> {
    let mut rest = regions;
    while let [first, others @ ..] = rest {
        others.iter().try_for_each(|other| first.check_apart(*other))?;
        rest = others;
    }
    Ok(())
}

/// Runs a call that needs no stream.
pub(crate) fn call<A: Arguments, R>(
    arguments: A,
    run: impl FnOnce(A::Slices<'_>) -> Result<R, Status>,
) -> Result<R, Status> {
    check_all_apart(&arguments.regions()?)?;
    // SAFETY: the regions have been checked, and are apart.
    run(unsafe { arguments.slices() })
}

/// What precedes a stream in its arena.
#[repr(C)]
struct Guard {
    tag: u32,
    busy: AtomicBool,
    /// The address of the guard: a copy elsewhere is no handle.
    here: usize,
    arena: Region,
    model: Region,
}

/// A stream in its arena.
#[repr(C)]
struct Slot<S> {
    guard: Guard,
    stream: S,
}

/// The caller's memory for a stream.
pub(crate) struct ArenaMemory {
    pointer: *mut c_void,
    words: usize,
}

impl Output<c_void> {
    /// An arena of `words` words.
    pub(crate) fn arena(self, words: usize) -> ArenaMemory {
        ArenaMemory { pointer: self.0, words }
    }
}

impl ArenaMemory {
    fn region(&self) -> Result<Region, Status> {
        if !self.pointer.addr().is_multiple_of(QUAVER_ARENA_ALIGNMENT) {
            return Err(Status::MISALIGNED);
        }
        checked(self.pointer.cast::<f32>(), self.words, true)
    }

    /// Makes a stream in the words after its slot, moves it into the slot, and tells C where that is. `parent`
    /// is what the stream refers to beyond its own memory.
    fn place<K: Kind>(
        self,
        model: Region,
        parent: Region,
        handle: Output<Handle<K>>,
        make: impl FnOnce(&'static mut [f32]) -> Result<K::Stream, Status>,
    ) -> Result<(), Status> {
        let () = K::FITS;
        let target = checked(handle.0, 1, true)?;
        // Whatever fails from here on, the caller has no handle.
        // SAFETY: checked; the caller of C promises a pointer that can be written.
        unsafe { handle.0.write(Handle(ptr::null_mut())) };
        let arena = self.region()?;
        let words = self.words.checked_sub(K::WORDS).ok_or(Status::ARENA)?;
        check_all_apart(&[target, arena, model, parent])?;
        let (slot, first) = (self.pointer.cast::<Slot<K::Stream>>(), self.pointer.cast::<f32>());
        // SAFETY: the arena is checked, apart from everything else and at least `K::WORDS` long; the caller of
        // C promises that it stays for as long as the handle is used, hence 'static.
        let stream = make(unsafe {
            ptr::write_bytes(first, 0, self.words);
            slice::from_raw_parts_mut(first.add(K::WORDS), words)
        })?;
        let guard = Guard { tag: K::TAG, busy: AtomicBool::new(false), here: slot.addr(), arena, model };
        // SAFETY: the slot fits into the first `K::WORDS` words (`FITS`), is aligned, and `stream` refers to
        // those after it.
        unsafe {
            slot.write(Slot { guard, stream });
            handle.0.write(Handle(slot.cast()));
        }
        Ok(())
    }

    /// Loads a stream from a checkpoint.
    pub(crate) fn load<K: Kind>(
        self,
        model: Inputs<u8>,
        handle: Output<Handle<K>>,
        make: impl FnOnce(&'static [u8], &'static mut [f32]) -> Result<K::Stream, Status>,
    ) -> Result<(), Status> {
        let [region, ..] = model.regions()?;
        // SAFETY: checked; nothing is written to it, and the caller of C promises that it stays for as long as
        // the handle is used, hence 'static.
        let bytes = unsafe { model.slices::<'static>() };
        self.place(region, Region::EMPTY, handle, |words| make(bytes, words))
    }

    /// Makes a stream from another one.
    pub(crate) fn load_from<K: Kind, P: Kind>(
        self,
        parent: Handle<P>,
        handle: Output<Handle<K>>,
        make: impl FnOnce(&P::Stream, usize, &'static mut [f32]) -> Result<K::Stream, Status>,
    ) -> Result<(), Status> {
        let here = parent.0.addr();
        let Guard { arena, model, .. } = parent.guard()?;
        let (arena, model) = (*arena, *model);
        self.place(model, arena, handle, |words| parent.enter((), |parent, ()| make(parent, here, words)))
    }
}

/// Ends a call, whatever way it takes.
struct Busy<'g>(&'g AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<K: Kind> Handle<K> {
    /// The guard of a handle of this kind.
    fn guard<'g>(&self) -> Result<&'g Guard, Status> {
        let slot = self.0.cast::<Slot<K::Stream>>();
        if slot.is_null() {
            return Err(Status::NULL);
        }
        if !slot.is_aligned() {
            return Err(Status::MISALIGNED);
        }
        // SAFETY: the caller of C promises a pointer from a load, whose arena has not gone. Of any other
        // memory the guard alone is read, and all of its fields but `busy` are plain.
        let (tag, here) =
            unsafe { ((&raw const (*slot).guard.tag).read(), (&raw const (*slot).guard.here).read()) };
        if tag != K::TAG || here != slot.addr() {
            return Err(Status::HANDLE);
        }
        // SAFETY: `place` has written this guard, and nobody moved it since.
        Ok(unsafe { &(*slot).guard })
    }

    /// An error if arguments overlap the memory of the stream.
    pub(crate) fn check_apart(&self, arguments: &impl Arguments) -> Result<(), Status> {
        let guard = self.guard()?;
        let [first, second, third] = arguments.regions()?;
        check_all_apart(&[guard.arena, guard.model, first, second, third])
    }

    /// Runs a call with the stream and its other arguments, and nobody else in it.
    pub(crate) fn enter<A: Arguments, R>(
        self,
        arguments: A,
        run: impl FnOnce(&mut K::Stream, A::Slices<'_>) -> Result<R, Status>,
    ) -> Result<R, Status> {
        let guard = self.guard()?;
        self.check_apart(&arguments)?;
        // Load and store: the smallest cores have no more. An interrupt between the two finishes before us.
        if guard.busy.load(Ordering::Acquire) {
            return Err(Status::BUSY);
        }
        guard.busy.store(true, Ordering::Release);
        let _busy = Busy(&guard.busy);
        // SAFETY: the slot is one of `place`; `busy` keeps other calls out; no argument overlaps the arena.
        unsafe { run(&mut (*self.0.cast::<Slot<K::Stream>>()).stream, arguments.slices()) }
    }

    /// Whether this is the handle at an address.
    pub(crate) fn is_at(&self, address: usize) -> bool {
        self.0.addr() == address
    }
}
