//! The folder of each finding: its input as files, what the versions wrote, and a script that shows it again.

use super::{Finding, LongOutput, Report};
use crate::examine::Class;
use crate::input::{file_name, write as write_file, Input, JsonBytes, MARKED};
use crate::programs::{internal, Programs};
use crate::template::Template;
use crate::words::for_shell;
use p3_passes::{Error, Result};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const SCRIPT: &str = include_str!("repro.sh");
/// The end of the script: what it runs, and how it tells.
const VERSIONS: &str = include_str!("repro-versions.sh");
const PRODUCT: &str = include_str!("repro-product.sh");

/// Under which names `pp_input` took its bytes.
const NAMES: &str = "pp_input.names";

/// What it sets if the versions take bytes by `pp_input`.
const TAKES_INPUT: &str = "\
# What the versions take by pp_input, and under which names, in which order.
export P3_INPUT=\"$here/pp_input\" P3_INPUT_NAMES=\"$work/names\"
cp \"$here/pp_input.names\" \"$work/names\"

";

/// Writes the folders of all findings into `folder`; those of earlier ones go.
pub(super) fn write(report: &Report, folder: &Path, programs: &Programs) -> Result<()> {
    let all = folder.join("findings");
    if all.exists() {
        fs::remove_dir_all(&all).map_err(|e| Error::bad_input(&all, e))?;
    }
    let template = Template::parse(&report.template).map_err(internal)?;
    for finding in &report.findings {
        let folder = folder.join(&finding.folder);
        write_finding(
            finding,
            &folder,
            &template,
            programs,
            "$here/../../programs",
        )?;
    }
    Ok(())
}

/// Writes one finding's folder; `place` is the folder of the programs, as a shell reads it in the script.
fn write_finding(
    finding: &Finding,
    folder: &Path,
    template: &Template,
    programs: &Programs,
    place: &str,
) -> Result<()> {
    let cannot = |e| Error::bad_input(folder, format!("cannot write: {e}"));
    fs::create_dir_all(folder).map_err(cannot)?;
    let input = finding
        .input
        .input()
        .ok_or_else(|| internal("an input that is no input"))?;
    input.write(folder)?;
    if programs.takes_input {
        write_file(&folder.join(MARKED), &input.marked)?;
        let names = finding.input.pp_input_names.as_ref();
        let names = names.and_then(JsonBytes::bytes).unwrap_or_default();
        write_file(&folder.join(NAMES), &names)?;
    }
    if let Some(raw) = template.encode(&input) {
        write_file(&folder.join("input"), &raw)?;
    }
    for (version, number) in finding.versions.iter().zip(1..) {
        for (stream, bytes) in [("stdout", &version.stdout), ("stderr", &version.stderr)] {
            let bytes = bytes.bytes().unwrap_or_default();
            write_file(&folder.join(format!("{number}.{stream}")), &bytes)?;
        }
        let longer: String = version
            .longer
            .iter()
            .map(|output| {
                let LongOutput { stream, length, sha256 } = output;
                format!("{stream}: only the beginning is here, of {length} bytes with SHA-256 {sha256}\n")
            })
            .collect();
        if !longer.is_empty() {
            write_file(&folder.join(format!("{number}.longer")), longer.as_bytes())?;
        }
        let status = format!("{}\n", version.status);
        write_file(&folder.join(format!("{number}.status")), status.as_bytes())?;
        if let Some(report) = &version.sanitizer {
            write_file(
                &folder.join(format!("{number}.sanitizer")),
                report.text.as_bytes(),
            )?;
        }
    }
    let path = folder.join("repro.sh");
    write_file(&path, script(finding, &input, programs, place).as_bytes())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(cannot)
}

/// Writes one finding into a folder anywhere.
pub fn write_alone(finding: &Finding, folder: &Path, programs: &Programs) -> Result<()> {
    let template = Template::parse(&programs.template).map_err(internal)?;
    let place = std::path::absolute(programs.folder()).map_err(internal)?;
    let place = for_shell(place.as_os_str().as_bytes());
    write_finding(finding, folder, &template, programs, &place)
}

fn script(finding: &Finding, input: &Input, programs: &Programs, place: &str) -> String {
    let (usage, what, body) = match finding.rests_on_product {
        true => (
            "PRODUCT",
            "Runs both versions together on the input in this folder, in the product that p3-ir diff built or one that is\n\
             # given: only there the check is made. Shows what it says.",
            PRODUCT,
        ),
        false => (
            "OLD NEW",
            "Runs both versions on the input in this folder and shows how they differ: the executables that p3-ir diff\n\
             # built, or the two that are given.",
            VERSIONS,
        ),
    };
    let suffix = match finding.class {
        Class::NewCrash | Class::FixedCrash => ".checked",
        _ => "",
    };
    let (streams, marked) = match programs.takes_input {
        true => ("stdin pp_input pp_input.names", TAKES_INPUT),
        false => ("stdin", ""),
    };
    let files: Vec<String> = (0..input.files.len()).map(file_name).collect();
    let versions: Vec<&str> = finding.versions.iter().map(|v| v.name.as_str()).collect();
    let title = format!("{}: {}", versions.join(" and "), finding.class);
    // What stands in a comment has one line.
    let title: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    // What the user has written comes last, so that nothing in it is taken for a placeholder.
    SCRIPT
        .replacen("{{usage}}", usage, 1)
        .replacen("{{what}}", what, 1)
        .replacen("{{body}}", body.trim_end(), 1)
        .replace("{{suffix}}", suffix)
        .replace("{{files}}", &files.join(" "))
        .replacen("{{streams}}", streams, 1)
        .replacen("{{marked}}", marked, 1)
        .replacen(
            "{{limit}}",
            &(programs.timeout as f64 / 1000.0).to_string(),
            1,
        )
        // What a program leaves running may keep its output open.
        .replacen(
            "{{patience}}",
            &(programs.timeout / 1000 + 2).to_string(),
            1,
        )
        .replacen("{{title}}", &title.replace("{{", "{ {"), 1)
        .replacen("{{programs}}", place, 1)
        .replacen("{{program}}", &for_shell(programs.program.as_bytes()), 1)
        .replacen("{{arguments}}", &arguments(input), 1)
}

fn arguments(input: &Input) -> String {
    let words: Vec<String> = input.arguments.iter().map(|a| for_shell(a)).collect();
    words.join(" ")
}

/// Standard input up to this size is shown as a command.
const SHORT: usize = 200;

/// How one types it, in bash, beside the input's files; `takes_input`: programs take bytes by `pp_input`.
pub(super) fn command(input: &Input, program: &str, takes_input: bool) -> String {
    let mut text = for_shell(program.as_bytes());
    if !input.arguments.is_empty() {
        text = format!("{text} {}", arguments(input));
    }
    if takes_input {
        let source = match input.marked.len() {
            0 => "/dev/null".to_string(),
            1..=SHORT => format!("<({})", printf(&input.marked)),
            _ => MARKED.to_string(),
        };
        text = format!("P3_INPUT={source} {text}");
    }
    match input.stdin.len() {
        0 => format!("{text} < /dev/null"),
        1..=SHORT => format!("{} | {text}", printf(&input.stdin)),
        _ => format!("{text} < stdin"),
    }
}

/// The command that prints these bytes.
fn printf(bytes: &[u8]) -> String {
    let printable = |b: &u8| (b' '..0x7f).contains(b) || *b == b'\n' || *b == b'\t';
    let format = match bytes.iter().all(|b| printable(b) && *b != b'\'') {
        // The escapes that printf knows, in quotes that keep them.
        true => {
            let text = String::from_utf8_lossy(bytes).replace('\\', "\\\\");
            let text = text
                .replace('%', "%%")
                .replace('\n', "\\n")
                .replace('\t', "\\t");
            format!("'{text}'")
        }
        false => {
            let bytes = bytes.iter().map(|b| match b {
                b'%' => "%%".to_string(),
                b'\\' => "\\\\".to_string(),
                b' '..=b'~' if *b != b'\'' => char::from(*b).to_string(),
                _ => format!("\\{b:03o}"),
            });
            format!("'{}'", bytes.collect::<String>())
        }
    };
    format!("printf {format}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn commands_say_exactly_what_was_tried() {
        for stdin in [&b"a b\n"[..], b"50%\\n\t", b"it's \x00\xff%\\1"] {
            let input = Input {
                arguments: vec![b"-".to_vec()],
                stdin: stdin.to_vec(),
                marked: stdin.to_vec(),
                ..Input::default()
            };
            let typed = |text: &str| {
                let done = Command::new("bash").args(["-c", text]).output().unwrap();
                done.stdout
            };
            let text = command(&input, "cat", false);
            assert_eq!(typed(&text), stdin, "{text}");
            let text = command(&input, "sh", true).replace(" sh -", " sh -c 'cat $P3_INPUT'");
            assert_eq!(typed(&text), stdin, "{text}");
        }
    }
}
