//! A static library of one object: the archive format of System V and GNU, which every linker reads.
//!
//! Written here, because no `ar` of the build machine needs to know the objects of other cores, and because
//! the same object gives the same archive.

/// The archive of an object with these global symbols.
pub(super) fn archive(name: &str, object: &[u8], symbols: &[String]) -> Vec<u8> {
    let names: Vec<u8> = symbols.iter().flat_map(|symbol| symbol.bytes().chain([0])).collect();
    let index_bytes = 4 + 4 * symbols.len() + names.len();
    let member = (b"!<arch>\n".len() + HEADER + padded(index_bytes)) as u32;
    let mut index = (symbols.len() as u32).to_be_bytes().to_vec();
    symbols.iter().for_each(|_| index.extend(member.to_be_bytes()));
    index.extend(names);
    let mut bytes = b"!<arch>\n".to_vec();
    push(&mut bytes, "/", &index);
    push(&mut bytes, &format!("{name}/"), object);
    bytes
}

/// Bytes of a member's header.
const HEADER: usize = 60;

fn padded(bytes: usize) -> usize {
    bytes + bytes % 2
}

/// A member: a header of text, then its bytes, padded to an even number.
fn push(archive: &mut Vec<u8>, name: &str, contents: &[u8]) {
    let (time, owner, group, mode, size) = (0, 0, 0, 644, contents.len());
    let header = format!("{name:<16}{time:<12}{owner:<6}{group:<6}{mode:<8}{size:<10}`\n");
    debug_assert_eq!(header.len(), HEADER);
    archive.extend(header.bytes());
    archive.extend(contents);
    if contents.len() % 2 == 1 {
        archive.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_points_to_the_header_of_the_object() {
        let symbols = ["quaver_a", "quaver_bc"].map(String::from);
        let bytes = archive("quaver.o", b"object", &symbols);
        let offset = u32::from_be_bytes(bytes[72..76].try_into().expect("four bytes")) as usize;
        assert_eq!(&bytes[68..72], 2_u32.to_be_bytes());
        assert_eq!(&bytes[offset..offset + 10], b"quaver.o/ ");
        assert!(bytes.ends_with(b"object") && bytes.len().is_multiple_of(2));
    }
}
