//! Damages the bytes of a file: as accidents do, and where its form says what things mean.

use fastrand::Rng;

type Damage = fn(&mut Vec<u8>, &mut Rng);

const OF_ALL: [(&str, Damage); 9] = [
    ("truncated", truncate),
    ("bits", |data, rng| flip_bits(data, rng)),
    ("bits", |data, rng| flip_bits(data, rng)),
    ("bytes", |data, rng| change_bytes(data, rng)),
    ("words", |data, rng| extreme_word(data, rng)),
    ("copied", |data, rng| copy_piece(data, rng)),
    ("inserted", insert_piece),
    ("removed", remove_piece),
    ("appended", append),
];
const OF_ELF: [(&str, Damage); 2] = [
    ("section header", |data, rng| section_header(data, rng)),
    ("file header", |data, rng| file_header(data, rng)),
];
const OF_ARCHIVES: [(&str, Damage); 1] = [("member header", |data, rng| member_header(data, rng))];
const OF_TEXT: [(&str, Damage); 5] = [
    ("token", exchange_token),
    ("number", extreme_number),
    ("line removed", remove_line),
    ("line moved", move_line),
    ("line twice", repeat_line),
];

/// Words that sizes and offsets are not.
const EXTREMES: [u64; 8] = [
    0,
    1,
    u64::MAX,
    i64::MAX as u64,
    0x8000_0000,
    0x7fff_ffff_7fff_ffff,
    0xffff_fff0,
    1 << 40,
];

/// Damages the contents of a file of this name, and says how.
pub fn damage(name: &str, data: &mut Vec<u8>, rng: &mut Rng) -> Vec<&'static str> {
    let special: &[(&str, Damage)] = if name.ends_with(".ll") {
        &OF_TEXT
    } else if name.ends_with(".a") {
        &OF_ARCHIVES
    } else if data.starts_with(b"\x7fELF") {
        &OF_ELF
    } else {
        &OF_ALL
    };
    let often = if name.ends_with(".ll") { 4 } else { 2 };
    let mut kinds = Vec::new();
    for _ in 0..rng.usize(1..4) {
        let from = if rng.usize(..often) == 0 {
            &OF_ALL
        } else {
            special
        };
        let (kind, damage) = from[rng.usize(..from.len())];
        if data.len() > 16 {
            damage(data, rng);
            kinds.push(kind);
        }
    }
    kinds
}

fn truncate(data: &mut Vec<u8>, rng: &mut Rng) {
    data.truncate(rng.usize(..data.len()));
}

fn flip_bits(data: &mut [u8], rng: &mut Rng) {
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..data.len());
        data[at] ^= 1 << rng.u32(..8);
    }
}

fn change_bytes(data: &mut [u8], rng: &mut Rng) {
    for _ in 0..rng.usize(1..30) {
        let at = rng.usize(..data.len());
        data[at] = rng.u8(..);
    }
}

fn extreme_word(data: &mut [u8], rng: &mut Rng) {
    // Headers stand at both ends.
    let end = data.len() - 8;
    let at = match rng.u8(..3) {
        0 => rng.usize(..end.min(128)),
        1 => end - rng.usize(..end.min(2048)),
        _ => rng.usize(..end),
    } & !3;
    let width = 4 << rng.usize(..2);
    put(data, at, width, extreme(rng));
}

fn extreme(rng: &mut Rng) -> u64 {
    EXTREMES[rng.usize(..EXTREMES.len())]
}

fn put(data: &mut [u8], at: usize, width: usize, value: u64) {
    if let Some(place) = data.get_mut(at..at + width) {
        place.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

fn get(data: &[u8], at: usize, width: usize) -> usize {
    let mut word = [0; 8];
    if let Some(bytes) = data.get(at..at + width) {
        word[..width].copy_from_slice(bytes);
    }
    u64::from_le_bytes(word) as usize
}

fn piece(data: &[u8], rng: &mut Rng) -> Vec<u8> {
    let from = rng.usize(..data.len());
    let to = data.len().min(from + rng.usize(1..65));
    data[from..to].to_vec()
}

fn copy_piece(data: &mut [u8], rng: &mut Rng) {
    let piece = piece(data, rng);
    let at = rng.usize(..=data.len() - piece.len());
    data[at..at + piece.len()].copy_from_slice(&piece);
}

fn insert_piece(data: &mut Vec<u8>, rng: &mut Rng) {
    let piece = piece(data, rng);
    let at = rng.usize(..=data.len());
    data.splice(at..at, piece);
}

fn remove_piece(data: &mut Vec<u8>, rng: &mut Rng) {
    let from = rng.usize(..data.len());
    let to = data.len().min(from + rng.usize(1..65));
    data.drain(from..to);
}

fn append(data: &mut Vec<u8>, rng: &mut Rng) {
    match rng.u8(..3) {
        0 => data.extend_from_within(..),
        1 => data.extend((0..rng.usize(1..100)).map(|_| rng.u8(..))),
        _ => data.resize(data.len() + rng.usize(1..100_000), 0),
    }
}

/// A field of one of the sections' headers.
fn section_header(data: &mut [u8], rng: &mut Rng) {
    const WIDTHS: [(usize, usize); 10] = [
        (0, 4),
        (4, 4),
        (8, 8),
        (16, 8),
        (24, 8),
        (32, 8),
        (40, 4),
        (44, 4),
        (48, 8),
        (56, 8),
    ];
    let (start, count) = (get(data, 40, 8), get(data, 60, 2));
    let (offset, width) = WIDTHS[rng.usize(..WIDTHS.len())];
    let at = start.saturating_add(64 * rng.usize(..count.max(1)) + offset);
    if at >= data.len() {
        return;
    }
    let value = match rng.u8(..4) {
        0 => rng.u64(..data.len() as u64),
        1 => (get(data, at, width) as u64)
            .wrapping_add(rng.u64(..9))
            .wrapping_sub(4),
        2 => rng.u64(..40),
        _ => extreme(rng),
    };
    put(data, at, width, value);
}

fn file_header(data: &mut [u8], rng: &mut Rng) {
    let at = rng.usize(4..64);
    let width = [1, 2, 4, 8][rng.usize(..4)];
    let value = match rng.bool() {
        true => extreme(rng),
        false => rng.u64(..data.len() as u64),
    };
    put(data, at & !(width - 1), width, value);
}

/// A field of a member's header: name, date, owner, group, mode, size or end.
fn member_header(data: &mut [u8], rng: &mut Rng) {
    const FIELDS: [(usize, usize); 5] = [(0, 16), (48, 10), (48, 10), (40, 8), (58, 2)];
    const TEXTS: [&str; 14] = [
        "",
        "0",
        "-1",
        "1",
        "4294967295",
        "9999999999",
        "0x10",
        "/",
        "//",
        "/99999999999999",
        "/-3",
        "#1/9999999999",
        "#1/4294967296",
        "/SYM64/",
    ];
    let ends: Vec<usize> = data
        .windows(2)
        .enumerate()
        .filter(|(_, w)| w == b"`\n")
        .map(|(at, _)| at)
        .collect();
    if ends.is_empty() {
        return;
    }
    let Some(start) = ends[rng.usize(..ends.len())].checked_sub(58) else {
        return;
    };
    let (offset, width) = FIELDS[rng.usize(..FIELDS.len())];
    let text = format!("{:<width$}", TEXTS[rng.usize(..TEXTS.len())]);
    if start + 60 <= data.len() {
        data[start + offset..start + offset + width].copy_from_slice(&text.as_bytes()[..width]);
    }
}

/// The ranges of words, numbers and single signs.
fn tokens(data: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"@%!$_.-#".contains(&byte);
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let start = at;
        while at < data.len() && is_word(data[at]) {
            at += 1;
        }
        if at == start {
            at += 1;
        }
        if !data[start].is_ascii_whitespace() {
            tokens.push(start..at);
        }
    }
    tokens
}

/// One token is replaced by one that stands elsewhere and looks alike.
fn exchange_token(data: &mut Vec<u8>, rng: &mut Rng) {
    let tokens = tokens(data);
    if tokens.is_empty() {
        return;
    }
    let place = tokens[rng.usize(..tokens.len())].clone();
    let first = data[place.start];
    let alike =
        |byte: u8| byte == first || byte.is_ascii_alphabetic() && first.is_ascii_alphabetic();
    for _ in 0..50 {
        let other = tokens[rng.usize(..tokens.len())].clone();
        if alike(data[other.start]) && data[other.clone()] != data[place.clone()] {
            let text = data[other].to_vec();
            data.splice(place, text);
            return;
        }
    }
}

fn extreme_number(data: &mut Vec<u8>, rng: &mut Rng) {
    const NUMBERS: [&str; 12] = [
        "0",
        "1",
        "-1",
        "3",
        "64",
        "65",
        "255",
        "1000000",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
    ];
    let tokens = tokens(data);
    for _ in 0..100 {
        let mut place = tokens[rng.usize(..tokens.len())].clone();
        if matches!(data[place.start], b'i' | b'!' | b'#') {
            place.start += 1;
        }
        if !place.is_empty() && data[place.clone()].iter().all(u8::is_ascii_digit) {
            data.splice(place, NUMBERS[rng.usize(..NUMBERS.len())].bytes());
            return;
        }
    }
}

fn line(data: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    let at = rng.usize(..data.len());
    let start = data[..at]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    let end = data[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(data.len(), |end| at + end + 1);
    start..end
}

fn remove_line(data: &mut Vec<u8>, rng: &mut Rng) {
    let line = line(data, rng);
    data.drain(line);
}

fn move_line(data: &mut Vec<u8>, rng: &mut Rng) {
    let from = line(data, rng);
    let text: Vec<u8> = data.drain(from).collect();
    if !data.is_empty() {
        let to = line(data, rng).start;
        data.splice(to..to, text);
    }
}

fn repeat_line(data: &mut Vec<u8>, rng: &mut Rng) {
    let from = line(data, rng);
    let text = data[from].to_vec();
    let to = line(data, rng).start;
    data.splice(to..to, text);
}
