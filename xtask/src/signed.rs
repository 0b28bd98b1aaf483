//! Signed models on the emulated cores: the golden bits after opening, and every tampered copy refused.

use anyhow::{Context, Result, ensure};

use crate::machine::main_machines;
use crate::{image, qemu};

/// The image that opens signed models, replays them and tampers with one.
pub(crate) const IMAGE: &str = "signed";

/// Tampered copies that the image must have made at least: one for each byte of a header.
const LEAST_REFUSED: usize = 80;

/// Runs the image on every core.
pub(crate) fn check() -> Result<String> {
    let golden = qemu::golden_lines()?;
    let mut answers = Vec::new();
    for machine in main_machines() {
        let printed = machine.run(&image::path_of(&machine.build_command(IMAGE))?)?;
        let answer = checked(&printed, &golden).with_context(|| format!("{IMAGE} on {}", machine.core))?;
        answers.push((machine.core, answer));
    }
    let cores: Vec<&str> = answers.iter().map(|(core, _)| *core).collect();
    let (models, refused) = answers.first().map(|(_, answer)| *answer).context("there is no core")?;
    Ok(format!("{models} models and {refused} tampered copies on each of {}", cores.join(", ")))
}

/// The number of models that gave the golden bits, and of copies that were refused.
fn checked(printed: &str, golden: &[(String, String)]) -> Result<(usize, usize)> {
    let lines = qemu::parsed(printed);
    for line in &lines {
        ensure!(golden.contains(line), "{} {} is not what tests/golden/streams.txt holds", line.0, line.1);
    }
    let refused = printed.lines().find_map(|line| line.strip_prefix("# refused ")?.split(' ').next());
    let refused: usize = refused.context("no word about tampered copies")?.parse()?;
    ensure!(!lines.is_empty() && refused >= LEAST_REFUSED, "too few models or copies were tried:\n{printed}");
    Ok((lines.len(), refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bits_and_missing_attempts_are_found() {
        let golden = qemu::parsed("a steps=2 hash=00FF\nb steps=2 hash=01FF\n");
        let refused = "# refused 99 tampered copies\n";
        let check = |text: String| checked(&text, &golden);
        assert_eq!(check(format!("a steps=2 hash=00FF\n{refused}")).unwrap(), (1, 99));
        check(format!("a steps=2 hash=00FE\n{refused}")).unwrap_err();
        check(refused.into()).unwrap_err();
        check("a steps=2 hash=00FF\n".into()).unwrap_err();
        check("a steps=2 hash=00FF\n# refused 3 tampered copies\n".into()).unwrap_err();
    }
}
