//! The channels of a stream: names, units, and how wide its error bars are.

use std::collections::HashSet;

use serde::Serialize;

/// Standard deviations on each side of the mean within which 50 % and 90 % of a normal distribution lie.
pub const NORMAL_QUANTILES: [f32; 2] = [0.674_489_8, 1.644_853_6];

/// Most characters of a name, a unit or a message.
const MAX_TEXT: usize = 64;

/// Name and unit of an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Channel {
    /// Unique among the inputs.
    pub name: String,
    /// May be empty.
    pub unit: String,
}

/// Name, unit and error bars of an output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputChannel {
    /// Unique among the outputs.
    pub name: String,
    /// May be empty.
    pub unit: String,
    /// Half widths of the 50 % and the 90 % interval, in standard deviations.
    pub quantiles: [f32; 2],
}

/// What a row of the stream consists of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Layout {
    /// The board and its program, or the model that runs here.
    pub device: String,
    /// Rows per second that the sender aims at, if it says so.
    pub rate_hz: Option<f32>,
    /// Inputs, in the order of a row.
    pub inputs: Vec<Channel>,
    /// Outputs, in the order of a prediction.
    pub outputs: Vec<OutputChannel>,
    /// Whether both parts of the variance are known, or only their sum.
    pub has_parts: bool,
    /// Whether the sender has named its channels; they are numbered otherwise.
    pub is_named: bool,
}

impl Layout {
    /// A layout with these names and units, cleaned; empty names are numbered c0, c1, … and y0, y1, ….
    pub fn new(
        inputs: impl IntoIterator<Item = (String, String)>,
        outputs: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let unit = |text: &str| cleaned(text);
        let inputs = unique(inputs, "c").map(|(name, text)| Channel { name, unit: unit(&text) }).collect();
        let outputs = unique(outputs, "y").map(|(name, text)| {
            let unit = unit(&text);
            OutputChannel { name, unit, quantiles: NORMAL_QUANTILES }
        });
        Layout { inputs, outputs: outputs.collect(), has_parts: true, is_named: true, ..Layout::default() }
    }

    /// Numbered channels without units.
    pub fn numbered(inputs: usize, outputs: usize) -> Self {
        let nameless = |count: usize| (0..count).map(|_| (String::new(), String::new()));
        Layout { is_named: false, ..Layout::new(nameless(inputs), nameless(outputs)) }
    }

    /// Numbers per row: the inputs, then the means, the epistemic and the aleatoric variances.
    pub fn width(&self) -> usize {
        self.inputs.len() + 3 * self.outputs.len()
    }

    /// Whether rows of one are rows of the other.
    pub fn has_shape_of(&self, other: &Layout) -> bool {
        self.inputs.len() == other.inputs.len() && self.outputs.len() == other.outputs.len()
    }

    /// The parts of a row: inputs, means, epistemic and aleatoric variances.
    pub fn split<'v>(&self, values: &'v [f32]) -> [&'v [f32]; 4] {
        let (inputs, rest) = values.split_at(self.inputs.len());
        let (mean, rest) = rest.split_at(self.outputs.len());
        let (epistemic, aleatoric) = rest.split_at(self.outputs.len());
        [inputs, mean, epistemic, aleatoric]
    }
}

/// Text from a device as it may be shown on a terminal, in a page and in the header of a CSV file: letters,
/// digits and harmless punctuation stay, everything else becomes `_`.
pub fn cleaned(text: &str) -> String {
    let harmless = |character: char| character.is_alphanumeric() || " _.-/%°·()[]#".contains(character);
    let clean: String =
        text.trim().chars().take(MAX_TEXT).map(|c| if harmless(c) { c } else { '_' }).collect();
    match clean.starts_with(|first: char| first.is_alphanumeric() || "_°%(".contains(first)) {
        // A spreadsheet takes what begins with another sign for a formula.
        false if !clean.is_empty() => format!("_{clean}"),
        _ => clean,
    }
}

/// A line from a device for people: letters, digits and common signs stay, everything else becomes a blank.
pub fn cleaned_line(line: &str) -> String {
    let shown = |character: char| {
        character.is_alphanumeric() || character.is_ascii_graphic() || "±°·–…→".contains(character)
    };
    line.chars().take(4 * MAX_TEXT).map(|character| if shown(character) { character } else { ' ' }).collect()
}

/// Cleaned names, numbered if empty, and made different if equal.
fn unique(
    channels: impl IntoIterator<Item = (String, String)>,
    prefix: &str,
) -> impl Iterator<Item = (String, String)> {
    let mut taken = HashSet::new();
    channels.into_iter().enumerate().map(move |(index, (name, unit))| {
        let clean = cleaned(&name);
        let base = if clean.is_empty() { format!("{prefix}{index}") } else { clean };
        let mut name = base.clone();
        let mut count = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}_{count}");
            count += 1;
        }
        (name, unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_harmless_unique_and_never_empty() {
        let name = |name: &str| (name.to_string(), "µV".to_string());
        let names = ["emg 1", "=1+1", "", "a,b\"c", "emg 1", "\u{1b}[2J", "-x"].map(name);
        let layout = Layout::new(names, [name("force")]);
        let names: Vec<&str> = layout.inputs.iter().map(|channel| channel.name.as_str()).collect();
        assert_eq!(names, ["emg 1", "_1_1", "c2", "a_b_c", "emg 1_2", "_[2J", "_-x"]);
        assert_eq!(layout.inputs[0].unit, "µV");
        assert_eq!(layout.width(), 10);
    }

    #[test]
    fn units_keep_their_signs() {
        for unit in ["m/s²", "°/s", "%", "N·m", "rad/s", ""] {
            assert_eq!(cleaned(unit), unit);
        }
        assert_eq!(cleaned_line("boot\u{1b}[1m\tok\u{202e}"), "boot [1m ok ");
    }

    #[test]
    fn a_row_is_split_into_its_parts() {
        let layout = Layout::numbered(2, 1);
        let [inputs, mean, epistemic, aleatoric] = layout.split(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(
            (inputs, mean, epistemic, aleatoric),
            (&[1.0, 2.0][..], &[3.0][..], &[4.0][..], &[5.0][..])
        );
        assert!(!layout.has_shape_of(&Layout::numbered(1, 1)));
        assert_eq!((layout.inputs[1].name.as_str(), layout.outputs[0].name.as_str()), ("c1", "y0"));
    }
}
