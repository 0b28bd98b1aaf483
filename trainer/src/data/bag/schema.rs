//! Message definitions of ROS 2 (`ros2msg`), as MCAP files have them: the fields of a type, then the types
//! that they refer to, each behind a line of equals signs and a line `MSG: package/Type`
//! (<https://mcap.dev/spec/registry#ros2msg>).

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

/// Deepest nesting of types, and most fields of all types in one message: far beyond those of ROS, so that a
/// type that contains itself ends.
const DEEPEST: usize = 32;
const MOST_FIELDS: usize = 10_000;

/// Types that some writers leave out because every ROS 2 has them.
const BUILT_IN: &str = "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n\
    ===\nMSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n";

/// How a value is laid out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Layout {
    Number(Number),
    Text,
    Struct(Vec<Field>),
    Array { element: Box<Layout>, length: Length },
}

/// A named part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) layout: Layout,
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Fixed(usize),
    /// As many as the message says, with or without a bound.
    Counted,
}

/// Kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Number {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Number::Bool,
            "byte" | "char" | "uint8" => Number::U8,
            "int8" => Number::I8,
            "uint16" => Number::U16,
            "int16" => Number::I16,
            "uint32" => Number::U32,
            "int32" => Number::I32,
            "uint64" => Number::U64,
            "int64" => Number::I64,
            "float32" => Number::F32,
            "float64" => Number::F64,
            _ => return None,
        })
    }

    /// Bytes, which are also its alignment.
    pub(super) fn size(self) -> usize {
        match self {
            Number::Bool | Number::U8 | Number::I8 => 1,
            Number::U16 | Number::I16 => 2,
            Number::U32 | Number::I32 | Number::F32 => 4,
            Number::U64 | Number::I64 | Number::F64 => 8,
        }
    }
}

/// The layout of a message of the type `name`, whose definition is `text`.
///
/// # Errors
/// When a line cannot be read, or a type is not defined; the message names it.
pub(super) fn layout(name: &str, text: &str) -> Result<Layout> {
    let definitions = [text, "\n===\n", BUILT_IN].concat();
    let mut types = Types { definitions: definitions_of(name, &definitions), fields: 0 };
    types.layout_of(&canonical(name), 0)
}

/// `package/Type` of `package/msg/Type`.
fn canonical(name: &str) -> String {
    name.replace("/msg/", "/")
}

/// The lines of every type, by its name; the first one is called `name`.
fn definitions_of<'t>(name: &str, text: &'t str) -> HashMap<String, Vec<&'t str>> {
    let mut definitions: HashMap<String, Vec<&str>> = HashMap::new();
    let mut current = canonical(name);
    let mut is_known = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("===") {
            continue;
        }
        if let Some(next) = line.strip_prefix("MSG:") {
            current = canonical(next.trim());
            is_known = definitions.contains_key(&current);
            definitions.entry(current.clone()).or_default();
            continue;
        }
        // What is defined twice is the same twice: each type of a bag brings its own copy.
        if !is_known {
            definitions.entry(current.clone()).or_default().push(line);
        }
    }
    definitions
}

struct Types<'t> {
    definitions: HashMap<String, Vec<&'t str>>,
    /// Fields so far.
    fields: usize,
}

impl Types<'_> {
    fn layout_of(&mut self, name: &str, depth: usize) -> Result<Layout> {
        ensure!(depth < DEEPEST, "its types are nested too deeply at `{name}`");
        let lines =
            self.definitions.get(name).with_context(|| format!("the type `{name}` is not defined"))?;
        let mut fields = Vec::new();
        for line in lines.clone() {
            let Some((kind, field)) = declaration(line) else { continue };
            self.fields += 1;
            ensure!(self.fields < MOST_FIELDS, "it has more than {MOST_FIELDS} fields");
            let layout = self.field(kind, name, depth).with_context(|| format!("`{name}.{field}`"))?;
            fields.push(Field { name: field.to_string(), layout });
        }
        if fields.is_empty() {
            // IDL has no empty structs: ROS 2 puts a byte there.
            let layout = Layout::Number(Number::U8);
            fields.push(Field { name: "structure_needs_at_least_one_member".into(), layout });
        }
        Ok(Layout::Struct(fields))
    }

    /// The layout of a field of type `kind` in a message of the type `parent`.
    fn field(&mut self, kind: &str, parent: &str, depth: usize) -> Result<Layout> {
        if let Some((element, length)) = kind.strip_suffix(']').and_then(|kind| kind.rsplit_once('[')) {
            let length = match length {
                "" => Length::Counted,
                bounded if bounded.starts_with("<=") => Length::Counted,
                fixed => Length::Fixed(fixed.parse().ok().with_context(|| format!("cannot read `{kind}`"))?),
            };
            ensure!(!element.ends_with(']'), "arrays of arrays, `{kind}`, are not read");
            let element = Box::new(self.field(element, parent, depth)?);
            return Ok(Layout::Array { element, length });
        }
        // `string<=10`
        let kind = kind.split("<=").next().unwrap_or(kind);
        if let Some(number) = Number::parse(kind) {
            return Ok(Layout::Number(number));
        }
        match kind {
            "string" => Ok(Layout::Text),
            "wstring" => bail!("texts of wide characters are not read"),
            "Header" => self.layout_of("std_msgs/Header", depth + 1),
            _ if kind.contains('/') => self.layout_of(&canonical(kind), depth + 1),
            _ => {
                let package = parent.split('/').next().unwrap_or(parent);
                self.layout_of(&format!("{package}/{kind}"), depth + 1)
            }
        }
    }
}

/// Type and name of the field that a line declares; nothing for comments, constants and empty lines.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let line = line.split('#').next()?.trim();
    let (kind, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_constant = after.trim_start().starts_with('=');
    (!name.is_empty() && !is_constant).then_some((kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str, number: Number) -> Field {
        Field { name: name.into(), layout: Layout::Number(number) }
    }

    #[test]
    fn fields_constants_defaults_and_other_types() {
        let text = "# a comment\nuint8 MODE=3\nint32 LIMIT = -7\nbool on true\nVector3 rate # rad/s\n\
                    string<=8 frame \"a=b\"\nfloat32[2] pair\nuint16[<=4] some\npkg/msg/Empty[] none\n\
                    ================\nMSG: pkg/Vector3\nfloat64 x\nfloat64 y 1.5\n===\nMSG: pkg/Empty\n# nothing\n";
        let Layout::Struct(fields) = layout("pkg/msg/Thing", text).unwrap() else { panic!() };
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["on", "rate", "frame", "pair", "some", "none"]);
        assert_eq!(
            fields[1].layout,
            Layout::Struct(vec![number("x", Number::F64), number("y", Number::F64)])
        );
        assert_eq!(fields[2].layout, Layout::Text);
        let array = |number, length| Layout::Array { element: Box::new(Layout::Number(number)), length };
        assert_eq!(fields[3].layout, array(Number::F32, Length::Fixed(2)));
        assert_eq!(fields[4].layout, array(Number::U16, Length::Counted));
        let empty = Layout::Struct(vec![number("structure_needs_at_least_one_member", Number::U8)]);
        assert_eq!(fields[5].layout, Layout::Array { element: Box::new(empty), length: Length::Counted });
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = |text: &str| format!("{:#}", layout("pkg/Thing", text).unwrap_err());
        assert_eq!(error("Other x"), "`pkg/Thing.x`: the type `pkg/Other` is not defined");
        assert_eq!(error("wstring x"), "`pkg/Thing.x`: texts of wide characters are not read");
        assert_eq!(error("int32[x] y"), "`pkg/Thing.y`: cannot read `int32[x]`");
        assert!(error("Thing self").ends_with("its types are nested too deeply at `pkg/Thing`"));
        let wide: String = (0..12)
            .map(|level| format!("===\nMSG: pkg/T{level}\n{}", format!("T{} a\n", level + 1).repeat(9)))
            .collect();
        assert!(error(&format!("T0 a\n{wide}===\nMSG: pkg/T12\nbool b")).contains("more than 10000 fields"));
        let stamped = layout("p/S", "builtin_interfaces/Time stamp").unwrap();
        assert!(matches!(stamped, Layout::Struct(fields) if fields.len() == 1));
    }
}
