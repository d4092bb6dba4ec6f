//! The report as one page that needs nothing but a browser.

use super::clip::{clipped, clipped_text, Clip, BEFORE, MAX_COMMAND, MAX_LINE};
use super::{Finding, JsonInput, Report, Shown, SourcePlace, Verdict, VersionReport};
use crate::input::{file_name, JsonBytes};
use crate::words::visible;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};
use std::fmt::Write;
use std::time::{Duration, Instant};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// More lines than these of an output are not shown.
const MAX_LINES: usize = 400;
/// Equal lines before and after a difference.
const CONTEXT: usize = 3;
/// After so long an alignment may be coarser than necessary.
const PATIENCE: Duration = Duration::from_secs(2);

/// The page.
pub(super) fn page(report: &Report) -> String {
    let names = report.versions.join(" and ");
    let mut body = String::new();
    head(&mut body, report);
    for finding in &report.findings {
        show_finding(&mut body, finding);
    }
    engines(&mut body, report);
    // Later parts are put in last, so that nothing in them is taken for a placeholder.
    let title = escaped(&names).replace('{', "&#123;");
    TEMPLATE
        .replacen("{{title}}", &title, 1)
        .replacen("{{style}}", STYLE, 1)
        .replacen("{{body}}", &body, 1)
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn put(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

fn head(page: &mut String, report: &Report) {
    let verdict = match report.verdict {
        Verdict::Different => "different",
        Verdict::NoneFound => "none",
        Verdict::EquivalentWithinBound => "equivalent",
        Verdict::Inconclusive => "inconclusive",
    };
    let names: Vec<String> = report
        .versions
        .iter()
        .zip(1..)
        .map(|(name, number)| format!("<span class=\"v{number}\">{}</span>", escaped(name)))
        .collect();
    put(
        page,
        &format!("<header><h1>{}</h1>", names.join(" <i>and</i> ")),
    );
    put(
        page,
        &format!(
            "<p class=\"verdict {verdict}\">{}</p>",
            escaped(&report.sentence())
        ),
    );
    put(
        page,
        &format!(
            "<p class=\"facts\">inputs: <code>{}</code> · {} examined · {:.1} s</p>",
            escaped(&report.template),
            report.examined,
            report.seconds
        ),
    );
    if !report.findings.is_empty() {
        put(page, "<ol class=\"index\">");
        for finding in &report.findings {
            let (number, class) = (finding.number, finding.class);
            put(
                page,
                &format!(
                    "<li><a href=\"#f{number}\"><b class=\"badge {}\">{class}</b> {}</a>{}</li>",
                    class.word(),
                    escaped(&finding.summary),
                    accepted(finding)
                ),
            );
        }
        put(page, "</ol>");
    }
    put(page, "</header>");
}

fn accepted(finding: &Finding) -> &'static str {
    match finding.accepted {
        Some(_) => " <b class=\"badge accepted\">accepted</b>",
        None => "",
    }
}

fn show_finding(page: &mut String, finding: &Finding) {
    let (number, class) = (finding.number, finding.class);
    put(page, &format!("<section id=\"f{number}\">"));
    put(
        page,
        &format!(
            "<h2><span class=\"number\">{number}</span> <b class=\"badge {}\">{class}</b> {}{}</h2>",
            class.word(),
            escaped(&finding.summary),
            accepted(finding)
        ),
    );
    show_input(page, finding);
    show_statuses(page, finding);
    if let [old, new] = finding.versions.as_slice() {
        let streams = [("standard output", 0), ("standard error", 1)];
        for (name, index) in streams {
            show_outputs(page, name, &old.shown[index], &new.shown[index]);
        }
    }
    show_places(page, finding);
    for (version, number) in finding.versions.iter().zip(1..) {
        show_sanitizer(page, version, number);
    }
    show_footer(page, finding);
    put(page, "</section>");
}

fn show_input(page: &mut String, finding: &Finding) {
    let JsonInput {
        command,
        call,
        stdin,
        files,
        pp_input,
        ..
    } = &finding.input;
    put(page, "<h3>Input</h3>");
    if let Some(call) = call {
        put(
            page,
            &format!("<pre>{}</pre>", clipped_text(call, MAX_COMMAND)),
        );
    }
    put(
        page,
        &format!(
            "<pre class=\"command\"><i>$</i> {}</pre>",
            clipped_text(command, MAX_COMMAND)
        ),
    );
    let mut streams: Vec<(String, &JsonBytes)> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        streams.push((format!("file {}", file_name(index)), file));
    }
    streams.push(("standard input".to_string(), stdin));
    streams.extend(pp_input.iter().map(|bytes| ("pp_input".to_string(), bytes)));
    for (name, bytes) in streams {
        let bytes = bytes.bytes().unwrap_or_default();
        if bytes.is_empty() {
            continue;
        }
        put(
            page,
            &format!(
                "<p class=\"label\">{name}, {} bytes</p><pre class=\"bytes\">",
                bytes.len()
            ),
        );
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        for line in lines.iter().take(MAX_LINES) {
            put(page, &clipped(line, MAX_LINE));
        }
        put(page, "</pre>");
        if lines.len() > MAX_LINES {
            put(
                page,
                &format!(
                    "<p class=\"skip\">{} more lines</p>",
                    lines.len() - MAX_LINES
                ),
            );
        }
    }
}

fn show_statuses(page: &mut String, finding: &Finding) {
    put(page, "<h3>What they do</h3><div class=\"pair\">");
    let differ = finding
        .versions
        .windows(2)
        .any(|pair| pair[0].status != pair[1].status);
    for (version, number) in finding.versions.iter().zip(1..) {
        let mark = if differ { " differs" } else { "" };
        let crash = version.crash.as_ref().map_or(String::new(), |crash| {
            format!("<br><span class=\"crash\">{}</span>", escaped(&crash.line))
        });
        put(
            page,
            &format!(
                "<div class=\"side\"><span class=\"name v{number}\">{}</span> <span class=\"status{mark}\">{}</span>{crash}</div>",
                escaped(&version.name),
                escaped(&version.status)
            ),
        );
    }
    put(page, "</div>");
}

/// Both outputs, beside each other, with everything that only one of them has marked.
fn show_outputs(page: &mut String, name: &str, old: &Shown, new: &Shown) {
    if old.bytes.is_empty() && new.bytes.is_empty() {
        return;
    }
    let equal = match old.bytes == new.bytes && old.left == new.left {
        true => ", equal",
        false => "",
    };
    put(
        page,
        &format!("<p class=\"label\">{name}{equal}</p><table class=\"outputs\">"),
    );
    if old.start > 0 {
        skip(page, &format!("{} bytes before", old.start));
    }
    let left = [old.left, new.left];
    let (old, new) = (&old.bytes, &new.bytes);
    let (old, new) = (lines(old), lines(new));
    let deadline = Some(Instant::now() + PATIENCE);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let count = ops.len();
    let mut shown = 0;
    for (index, op) in ops.into_iter().enumerate() {
        if shown > MAX_LINES {
            skip(page, "the rest is in the finding's folder");
            break;
        }
        if let DiffOp::Equal { old_index, len, .. } = op {
            let (head, tail) = (
                if index == 0 { 0 } else { CONTEXT },
                if index + 1 == count && count > 1 {
                    0
                } else {
                    CONTEXT
                },
            );
            let skipped = len.saturating_sub(head + tail);
            for line in 0..len {
                if skipped > 1 && line == head {
                    skip(page, &format!("{skipped} equal lines"));
                }
                if skipped > 1 && (head..head + skipped).contains(&line) {
                    continue;
                }
                let text = clipped(old[old_index + line], MAX_LINE);
                row(page, "", &text, &text);
                shown += 1;
            }
            continue;
        }
        let (left, right) = (&old[op.old_range()], &new[op.new_range()]);
        for line in 0..left.len().max(right.len()) {
            let (a, b) = marked(left.get(line).copied(), right.get(line).copied());
            row(page, "changed", &a, &b);
            shown += 1;
            if shown > MAX_LINES {
                break;
            }
        }
    }
    if left != [0, 0] {
        skip(
            page,
            &format!("then {} and {} more bytes", left[0], left[1]),
        );
    }
    put(page, "</table>");
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

fn row(page: &mut String, class: &str, left: &str, right: &str) {
    put(
        page,
        &format!("<tr class=\"{class}\"><td class=\"old\">{left}</td><td class=\"new\">{right}</td></tr>"),
    );
}

fn skip(page: &mut String, text: &str) {
    put(
        page,
        &format!("<tr class=\"skip\"><td colspan=\"2\">{text}</td></tr>"),
    );
}

/// Two lines with what only one of them has in marks; of long ones, around the first difference.
fn marked(left: Option<&[u8]>, right: Option<&[u8]>) -> (String, String) {
    let text = |clip: &Clip| {
        let has_end = clip.behind > 0 || clip.shown.ends_with(b"\n");
        let newline = if has_end { "" } else { "\u{2204}" };
        format!("{}{newline}", visible(clip.shown))
    };
    let (Some(left), Some(right)) = (left, right) else {
        let whole = |line: Option<&[u8]>| match line.map(|line| Clip::of(line, 0, MAX_LINE)) {
            Some(clip) => clip.around(&format!("<mark>{}</mark>", escaped(&text(&clip)))),
            None => String::new(),
        };
        return (whole(left), whole(right));
    };
    let equal = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let start = match left.len().max(right.len()) > MAX_LINE {
        true => equal.saturating_sub(BEFORE),
        false => 0,
    };
    let clips = [left, right].map(|line| Clip::of(line, start, MAX_LINE));
    let (left, right) = (text(&clips[0]), text(&clips[1]));
    let diff = TextDiff::from_chars(&left, &right);
    let (mut a, mut b) = (String::new(), String::new());
    for change in diff.iter_all_changes() {
        let text = escaped(change.value());
        match change.tag() {
            ChangeTag::Equal => {
                a.push_str(&text);
                b.push_str(&text);
            }
            ChangeTag::Delete => {
                let _ = write!(a, "<mark>{text}</mark>");
            }
            ChangeTag::Insert => {
                let _ = write!(b, "<mark>{text}</mark>");
            }
        }
    }
    let joined = |text: String| text.replace("</mark><mark>", "");
    (clips[0].around(&joined(a)), clips[1].around(&joined(b)))
}

fn show_places(page: &mut String, finding: &Finding) {
    let title = match finding.kind.as_deref() {
        Some("crash") => "Where it crashes",
        Some("spec") => "What does not hold",
        Some("return") => "Where they return different values",
        Some("write") => WRITES,
        Some("exit") => "Where one goes on at what the other does not have",
        _ => "Where they part",
    };
    show_pair(page, title, &finding.places, finding);
    if finding.kind.as_deref() != Some("write") {
        show_pair(page, WRITES, &finding.writes, finding);
    }
    let partings = finding.partings.as_deref().unwrap_or_default();
    let is_all = matches!(
        finding.kind.as_deref(),
        Some("branch" | "switch" | "call" | "exit")
    );
    if partings.len() > 1 || !is_all && !partings.is_empty() {
        put(
            page,
            "<details><summary>all places where they part</summary><ol>",
        );
        for parting in partings {
            put(
                page,
                &format!(
                    "<li>{}: {}</li>",
                    parting.kind,
                    escaped(&parting.to_string())
                ),
            );
        }
        put(page, "</ol></details>");
    }
}

const WRITES: &str = "Where they write what differs";

/// A place of each version, with its source.
fn show_pair(page: &mut String, title: &str, places: &[Option<SourcePlace>], finding: &Finding) {
    if places.iter().all(Option::is_none) {
        return;
    }
    put(page, &format!("<h3>{title}</h3><div class=\"pair\">"));
    for ((place, version), number) in places.iter().zip(&finding.versions).zip(1..) {
        put(page, "<div class=\"side\">");
        put(
            page,
            &format!(
                "<span class=\"name v{number}\">{}</span>",
                escaped(&version.name)
            ),
        );
        match place {
            Some(place) => show_source(page, place),
            None => put(page, "<p class=\"skip\">not here</p>"),
        }
        put(page, "</div>");
    }
    put(page, "</div>");
}

fn show_source(page: &mut String, place: &SourcePlace) {
    let line = match place.line {
        0 => String::new(),
        line => format!(":{line}"),
    };
    put(
        page,
        &format!(
            "<span class=\"place\">{}{line}</span>",
            escaped(&place.file)
        ),
    );
    if place.source.is_empty() {
        return;
    }
    page.push_str("<pre class=\"source\">");
    for (number, text) in &place.source {
        let class = if *number == place.line {
            " class=\"here\""
        } else {
            ""
        };
        let _ = write!(
            page,
            "<span{class}><i>{number}</i>{}</span>",
            clipped_text(&text.replace('\t', "    "), MAX_LINE)
        );
    }
    put(page, "</pre>");
}

fn show_sanitizer(page: &mut String, version: &VersionReport, number: usize) {
    if let Some(report) = &version.sanitizer {
        put(
            page,
            &format!(
                "<details><summary>what the sanitizer says of <span class=\"v{number}\">{}</span></summary><pre>{}</pre></details>",
                escaped(&version.name),
                escaped(&report.text)
            ),
        );
    }
}

fn show_footer(page: &mut String, finding: &Finding) {
    let engine = finding
        .engine
        .map_or("a seed".to_string(), |engine| engine.to_string());
    put(
        page,
        &format!(
            "<p class=\"facts\">found by {engine} after {:.1} s on {} · {} bytes, made {} · again: <code>{}/repro.sh</code></p>",
            finding.after,
            match finding.inputs {
                1 => "1 input".to_string(),
                count => format!("{count} inputs"),
            },
            finding.weight_before,
            finding.input.weight,
            escaped(&finding.folder)
        ),
    );
    match (&finding.accepted, &finding.suggestion) {
        (Some(texts), _) => put(
            page,
            &format!(
                "<p class=\"facts\">accepted by <code>{}</code></p>",
                escaped(&texts.join("; "))
            ),
        ),
        (None, Some(line)) => put(
            page,
            &format!(
                "<p class=\"facts\">to accept it: <code>{}</code></p>",
                escaped(line)
            ),
        ),
        (None, None) => {}
    }
}

fn engines(page: &mut String, report: &Report) {
    put(
        page,
        "<footer><h3>How it was searched</h3><table class=\"engines\">",
    );
    put(
        page,
        "<tr><th>engine</th><th>time</th><th>runs</th><th>paths</th><th></th></tr>",
    );
    for engine in &report.engines {
        let mut notes: Vec<String> = engine.limits.clone();
        notes.extend(engine.failure.clone());
        put(
            page,
            &format!(
                "<tr><td>{}</td><td>{:.1} s</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                engine.engine,
                engine.seconds,
                engine.runs,
                engine.paths,
                escaped(&notes.join(", "))
            ),
        );
    }
    put(page, "</table>");
    if let Some(bound) = &report.bound {
        put(page, &format!("<p class=\"facts\">{}</p>", escaped(bound)));
    }
    let mut remarks: Vec<String> = Vec::new();
    let warnings = report.warnings.iter();
    remarks.extend(warnings.map(|warning| format!("warning: {warning}")));
    if report.unexamined > 0 {
        remarks.push(format!(
            "{} more inputs were proposed and not examined",
            report.unexamined
        ));
    }
    if report.unconfirmed > 0 {
        remarks.push(format!(
            "on {} inputs the product showed a difference that the versions alone do not show",
            report.unconfirmed
        ));
    }
    for stale in &report.stale_expectations {
        remarks.push(format!("nothing was accepted by: {stale}"));
    }
    for remark in remarks {
        put(
            page,
            &format!("<p class=\"facts\">{}</p>", escaped(&remark)),
        );
    }
    put(page, "</footer>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_clipped_around_the_difference() {
        let old = vec![b'x'; 1_000_000];
        let mut new = old.clone();
        new[500_000] = b'y';
        let (a, b) = marked(Some(&old), Some(&new));
        assert!(a.len() < 1000 && b.len() < 1000);
        let before = "<i class=\"left\">… 499880 bytes …</i>x";
        assert!(a.starts_with(before) && b.starts_with(before), "{b}");
        assert!(b.contains("x<mark>y</mark>x"), "{b}");
        assert!(
            b.ends_with("x<i class=\"left\">… 499520 bytes …</i>"),
            "{b}"
        );
        // One that ends where the other goes on for long.
        let (a, b) = marked(Some(&old[..500]), Some(&old));
        assert!(a.starts_with("<i class=\"left\">… 380 bytes …</i>x"), "{a}");
        assert!(b.starts_with("<i class=\"left\">… 380 bytes …</i>x"), "{b}");
        let (a, b) = marked(Some(&old), None);
        assert!(a.ends_with("</mark><i class=\"left\">… 999400 bytes …</i>"));
        assert_eq!(b, "");
        // Characters stay whole.
        let text = "é".repeat(1000);
        assert!(!clipped(&text.as_bytes()[..1999], MAX_LINE - 1).contains("\\x"));
    }

    #[test]
    fn marks_are_joined_and_escaped() {
        let (a, b) = marked(Some(b"x<1>\n"), Some(b"x<22>\n"));
        assert_eq!(a, "x&lt;<mark>1</mark>&gt;");
        assert_eq!(b, "x&lt;<mark>22</mark>&gt;");
        let (a, b) = marked(None, Some(b"new"));
        assert_eq!((a.as_str(), b.as_str()), ("", "<mark>new\u{2204}</mark>"));
    }
}
