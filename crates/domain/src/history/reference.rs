//! References: what the model reads of a long result of an older step, once results are shortened.
//!
//! A **reference** is the beginning of a result, its size and where the whole of it stands. Invariant: it follows from the
//! result and its place alone, and is shorter than what it stands for.

use crate::digest::Digest;

/// What the place of a recorded event begins with, where a file's path is expected: `record:812`.
pub const PLACE: &str = "record:";

/// What the name of a kept output begins with, where a file's path is expected: `output:3fa1c9d27b604e15`.
pub const OUTPUT: &str = "output:";

/// Digits of a kept output's name.
const NAME: usize = 16;

/// Longest good result that stays as it is, in bytes.
const LONGEST: usize = 800;
/// Longest error that stays as it is: what failed is worth more than what was read.
const LONGEST_ERROR: usize = 2_000;
/// Bytes of a good result's beginning that stay.
const BEGINNING: usize = 240;
/// Bytes of an error's beginning that stay.
const BEGINNING_ERROR: usize = 1_200;

/// The name of a kept output: the same for as long as its bytes are, in this process and any other.
#[must_use]
pub fn output_name(kept: &Digest) -> String {
    let digits = kept.to_string();
    format!("{OUTPUT}{}", digits.get(..NAME).unwrap_or(&digits))
}

/// What a cut result says of the whole.
#[must_use]
pub fn kept_whole(kept: &Digest) -> String {
    format!("[all of it is kept: read_file and search_files take {} as a path]", output_name(kept))
}

/// The reference to this result, recorded at `seq`; `None` where the result is short enough to stay.
#[must_use]
pub fn reference(seq: u64, text: &str, is_error: bool) -> Option<String> {
    let (longest, beginning) = if is_error { (LONGEST_ERROR, BEGINNING_ERROR) } else { (LONGEST, BEGINNING) };
    if text.len() <= longest {
        return None;
    }
    let beginning = &text[..text.floor_char_boundary(beginning)];
    let bytes = text.len();
    Some(format!(
        "{beginning}…\n[Shortened by Daybook: this result had {bytes} bytes. To see all of it, read the path {PLACE}{seq} with \
         read_file, or make the call again if things may have changed.]"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_cmp_15_a_long_result_becomes_its_beginning_and_its_place() {
        assert_eq!(reference(1, &"x".repeat(LONGEST), false), None);
        assert_eq!(reference(1, &"x".repeat(LONGEST_ERROR), true), None);
        let text = "清单".repeat(2_000);
        let short = reference(812, &text, false).expect("it is long");
        assert!(short.starts_with("清单清单") && short.len() < 700, "{short}");
        assert!(short.contains("12000 bytes") && short.contains("record:812"), "{short}");
        let error = reference(812, &text, true).expect("it is long");
        assert!(error.len() > short.len() && error.len() < text.len());
    }
}
