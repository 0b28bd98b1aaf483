//! Time stamps as text: ISO 8601 in the forms that loggers and spreadsheets write.

/// Seconds since 1970-01-01 of a time stamp such as `2026-11-17T10:00:00.250Z`, `2026-11-17 10:00:00,25`,
/// `2026-11-17T10:00+01:00` or `10:00:00.5` (then since midnight). A stamp without an offset counts as UTC:
/// only differences matter.
pub fn parse_timestamp(text: &str) -> Option<f64> {
    let text = text.trim();
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return parse_time(text);
    };
    let days = parse_date(date)?;
    let (time, offset) = split_offset(time.trim());
    Some(days as f64 * 86_400.0 + parse_time(time)? - offset?)
}

/// Days since 1970-01-01 of `2026-11-17` or `2026/11/17`.
fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.split(['-', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let (year, month, day): (i64, i64, i64) = (number(year)?, number(month)?, number(day)?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| days_from_civil(year, month, day))
}

/// Days since 1970-01-01 in the Gregorian calendar, by counting years from March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Seconds of `10:00`, `10:00:00` or `10:00:00.25`.
fn parse_time(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let (hours, minutes) = (number(parts.next()?)?, number(parts.next()?)?);
    let seconds: f64 = match parts.next() {
        None => 0.0,
        Some(seconds) => {
            let is_plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || b".,".contains(&byte));
            seconds.replace(',', ".").parse().ok().filter(|_| is_plain)?
        }
    };
    let in_range = (0..=24).contains(&hours) && (0..60).contains(&minutes) && seconds < 61.0;
    (in_range && parts.next().is_none()).then(|| (3600 * hours + 60 * minutes) as f64 + seconds)
}

/// A time of day, and its offset from UTC in seconds; `None` if what looks like one is none.
fn split_offset(time: &str) -> (&str, Option<f64>) {
    if let Some(utc) = time.strip_suffix(['Z', 'z']) {
        return (utc, Some(0.0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return (time, Some(0.0)) };
    let digits: String = time[at + 1..].chars().filter(|character| *character != ':').collect();
    let offset = match digits.len() {
        2 => number(&digits).map(|hours| 3600 * hours),
        4 => {
            number(&digits[..2]).zip(number(&digits[2..])).map(|(hours, minutes)| 3600 * hours + 60 * minutes)
        }
        _ => None,
    };
    let sign = if time[at..].starts_with('-') { -1.0 } else { 1.0 };
    (time[..at].trim_end(), offset.map(|seconds| sign * seconds as f64))
}

fn number(text: &str) -> Option<i64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_seconds_since_1970() {
        // `date -u -d 2026-11-17T10:00:00Z +%s`
        let ten = 1_794_909_600.0;
        for (text, seconds) in [
            ("2026-11-17T10:00:00Z", ten),
            ("2026-11-17 10:00:00", ten),
            ("2026/11/17 10:00", ten),
            ("2026-11-17T10:00:00.250", ten + 0.25),
            ("2026-11-17T10:00:00,25Z", ten + 0.25),
            ("2026-11-17T11:00:00+01:00", ten),
            ("2026-11-17T05:30:00-0430", ten),
            ("1970-01-01T00:00:00Z", 0.0),
            ("1969-12-31 23:59:59", -1.0),
            ("2000-03-01 00:00:00", 951_868_800.0),
            ("10:00:00.5", 36_000.5),
        ] {
            assert_eq!(parse_timestamp(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn other_text_is_none() {
        for text in [
            "",
            "rest",
            "2026-11-17",
            "12",
            "1.5",
            "2026-13-01 10:00",
            "25:00:00",
            "10:61",
            "17.11.2026 10:00",
            "2026-11-17T10:00:00+1",
            "a:b",
            "1:2:3:4",
            "2026-11-17T10:00:0é",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }
}
