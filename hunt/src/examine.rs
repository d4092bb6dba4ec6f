//! Repeats an input on the versions alone, natively, and says whether and how they differ.
//!
//! What an engine reports is only a reason to look: a difference counts if the versions, built separately, show
//! it, and if each of them does the same when it is run again.

use crate::captured::Captured;
use crate::input::Input;
use crate::marked::MarkedFiles;
use crate::place::Place;
use crate::process::Ended;
use crate::programs::{Account, Checked, Parting, Programs, Specification};
use p3_passes::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;

/// How versions differ, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The new version crashes, or a sanitizer reports it, where the old one is fine or crashes elsewhere.
    NewCrash,
    /// The old version crashes, the new one does not.
    FixedCrash,
    /// What the program says of its versions does not hold.
    Spec,
    /// Standard output or error differ.
    Output,
    /// The versions end otherwise, with equal output.
    Status,
    /// They go other ways and do the same.
    Flow,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 6] = [
        Class::NewCrash,
        Class::FixedCrash,
        Class::Spec,
        Class::Output,
        Class::Status,
        Class::Flow,
    ];

    /// One word, as in folder names and expectations.
    pub fn word(self) -> &'static str {
        match self {
            Class::NewCrash => "new-crash",
            Class::FixedCrash => "fixed-crash",
            Class::Spec => "spec",
            Class::Output => "output",
            Class::Status => "status",
            Class::Flow => "flow",
        }
    }

    /// Whether it is a difference in what the program does, or is said to do.
    pub fn is_visible(self) -> bool {
        self != Class::Flow
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Class::NewCrash => "new crash",
            Class::FixedCrash => "fixed crash",
            Class::Spec => "specification fails",
            Class::Output => "output differs",
            Class::Status => "status differs",
            Class::Flow => "control flow only",
        })
    }
}

/// What all versions did on an input.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The input.
    pub input: Input,
    /// Each version as it is.
    pub plain: Vec<Ended>,
    /// Each version under sanitizers.
    pub checked: Vec<Checked>,
    /// What the product says of it; none if it did not come to its end.
    pub account: Option<Account>,
    /// Whether everything that makes it a difference was the same in a second run.
    pub is_stable: bool,
    /// Under which names the product took the bytes for `pp_input`, as `P3_INPUT_NAMES` has it.
    pub names: Vec<u8>,
}

/// Why a version counts as crashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// A sanitizer's word for it, or the signal.
    pub kind: String,
    /// A sanitizer's line, or the status.
    pub line: String,
    /// Where it happened.
    pub place: Option<Place>,
    /// In which function.
    pub function: Option<String>,
}

/// What makes two inputs show the same difference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// How they differ.
    pub class: Class,
    /// Where, or what differs if no place is known.
    pub at: String,
}

/// Runs all versions on an input.
pub fn examine(programs: &Programs, input: &Input) -> Result<Examined> {
    let count = programs.names.len();
    let marked = MarkedFiles::new(programs, input)?;
    // Only then does it have to come first.
    let first = match programs.takes_input {
        true => Some(programs.account(input, &marked)?),
        false => None,
    };
    let names = marked.names()?;
    let (plain, checked, account) = std::thread::scope(|scope| {
        // Sanitizers take longest to start; there are two processors on the smallest machine.
        let checked = scope.spawn(|| -> Result<Vec<_>> {
            let marked = marked.copy()?;
            let run = |version| programs.run_checked(version, input, &marked);
            (0..count).map(run).collect()
        });
        let marked = marked.copy()?;
        let plain: Vec<_> = (0..count)
            .map(|version| programs.run_plain(version, input, &marked, [None, None]))
            .collect::<Result<_>>()?;
        let account = match first {
            Some(account) => account,
            None => programs.account(input, &marked)?,
        };
        let panicked = |_| Error::internal("examine", "a thread ended by a panic");
        Ok((plain, checked.join().map_err(panicked)??, account))
    })?;
    let mut examined = Examined {
        input: input.clone(),
        plain,
        checked,
        account,
        is_stable: true,
        names,
    };
    if examined
        .plain
        .windows(2)
        .any(|pair| !pair[0].is_same(&pair[1]))
    {
        // The second run keeps what lies behind the beginning of long outputs.
        let block = |output: fn(&Ended) -> &Captured| {
            output(&examined.plain[0]).differing_block(output(&examined.plain[1]))
        };
        let windows = [block(|e| &e.stdout), block(|e| &e.stderr)];
        let marked = marked.copy()?;
        for version in 0..count {
            let again = programs.run_plain(version, input, &marked, windows)?;
            examined.is_stable &= again.is_same(&examined.plain[version]);
            examined.plain[version] = again;
        }
    }
    if examined.rests_on_account() {
        examined.is_stable &= programs.account(input, &marked.copy()?)? == examined.account;
    }
    Ok(examined)
}

impl Examined {
    /// Why a version counts as crashed, if it does.
    pub fn crash(&self, version: usize) -> Option<Crash> {
        let (plain, checked) = (&self.plain[version], &self.checked[version]);
        if let Some(report) = &checked.report {
            return Some(Crash {
                kind: report.kind.clone(),
                line: report.line.clone(),
                place: report.place.clone(),
                function: report.function.clone(),
            });
        }
        let status = [&plain.status, &checked.status]
            .into_iter()
            .find(|status| status.is_crash())?;
        Some(Crash {
            kind: status.to_string(),
            line: status.to_string(),
            place: None,
            function: None,
        })
    }

    /// Whether only the product shows what makes this a difference.
    fn rests_on_account(&self) -> bool {
        let account = self.account.as_ref();
        account.is_some_and(|account| !account.failed.is_empty() || account.outputs.is_some())
    }

    /// The specifications that do not hold.
    pub fn failed_specs(&self) -> &[Specification] {
        let account = self.account.as_ref();
        account.map_or(&[], |account| &account.failed)
    }

    /// Where the versions parted; none if that is not known.
    pub fn partings(&self) -> Option<&[Parting]> {
        self.account
            .as_ref()
            .map(|account| account.partings.as_slice())
    }

    /// Which calls wrote the first different output, if that is known.
    pub fn write(&self) -> Option<&Parting> {
        self.account.as_ref()?.write.as_ref()
    }

    /// Which of standard output, standard error, status and what the program calls its output differ.
    pub fn differing(&self) -> Vec<&'static str> {
        let differs = |output: fn(&Ended) -> &Captured| {
            let mut others = self.plain[1..].iter();
            others.any(|other| !self.plain[0].has_same(other, output))
        };
        let mut differing = Vec::new();
        let chosen = self
            .account
            .as_ref()
            .and_then(|account| account.outputs.as_ref());
        if chosen.is_some_and(|outputs| !outputs.is_empty()) {
            differing.push("pp_output");
        }
        if chosen.is_none() && differs(|ended| &ended.stdout) {
            differing.push("stdout");
        }
        if chosen.is_none() && differs(|ended| &ended.stderr) {
            differing.push("stderr");
        }
        let others = &self.plain[1..];
        if others.iter().any(|e| e.status != self.plain[0].status) {
            differing.push("status");
        }
        differing
    }

    /// How the versions differ; nothing if they do not, or only now and then.
    pub fn class(&self) -> Option<Class> {
        if self
            .account
            .as_ref()
            .is_some_and(|account| account.is_excluded)
        {
            return None;
        }
        let old = self.crash(0);
        let new = (1..self.plain.len()).find_map(|version| self.crash(version));
        let class = match (&old, &new) {
            (None, Some(_)) => Class::NewCrash,
            (Some(_), None) => Class::FixedCrash,
            (Some(a), Some(b)) if (&a.kind, &a.function) != (&b.kind, &b.function) => {
                Class::NewCrash
            }
            _ if !self.failed_specs().is_empty() => Class::Spec,
            _ => match self.differing().as_slice() {
                [] if self.branches().next().is_some() => Class::Flow,
                [] => return None,
                ["status"] => Class::Status,
                _ => Class::Output,
            },
        };
        (self.is_stable || matches!(class, Class::NewCrash | Class::FixedCrash)).then_some(class)
    }

    /// The places where versions decided otherwise.
    fn branches(&self) -> impl Iterator<Item = &Parting> {
        let partings = self.partings().into_iter().flatten();
        partings.filter(|parting| !["return", "exit"].contains(&parting.kind.as_str()))
    }

    /// The parting that tells this difference from others: the first that does not happen on inputs without a
    /// difference, too (`harmless` has those); else the calls that wrote the first different output.
    pub fn telling_parting(&self, harmless: &HashSet<Parting>) -> Option<&Parting> {
        let telling = |returns: bool| {
            let mut partings = self.partings().into_iter().flatten();
            partings.find(|p| (p.kind == "return") == returns && !harmless.contains(p))
        };
        telling(false)
            .or_else(|| self.write())
            .or_else(|| telling(true))
            .or_else(|| self.branches().last())
    }

    /// What makes this the same finding as another; nothing if there is no difference.
    pub fn identity(&self, harmless: &HashSet<Parting>) -> Option<Identity> {
        let class = self.class()?;
        let at = match class {
            Class::NewCrash | Class::FixedCrash => {
                let crashes: Vec<String> = (0..self.plain.len())
                    .map(|version| {
                        self.crash(version)
                            .map_or("-".to_string(), |c| c.to_string())
                    })
                    .collect();
                crashes.join(" / ")
            }
            Class::Spec => self.failed_specs().first()?.to_string(),
            Class::Flow => self.branches().next()?.to_string(),
            _ => match self.telling_parting(harmless) {
                Some(parting) => parting.to_string(),
                None => {
                    let statuses = self.plain.iter().map(|ended| ended.status.to_string());
                    let statuses: Vec<String> = statuses.collect();
                    format!("{}: {}", self.differing().join(", "), statuses.join(" / "))
                }
            },
        };
        Some(Identity { class, at })
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        if let Some(function) = &self.function {
            write!(f, " in {function}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write_places(f, &self.places)
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} at ", self.text)?;
        write_places(f, &self.places)
    }
}

fn write_places(f: &mut fmt::Formatter, places: &[Option<Place>]) -> fmt::Result {
    for (index, place) in places.iter().enumerate() {
        let separator = if index == 0 { "" } else { " / " };
        match place {
            Some(place) => write!(f, "{separator}{place}")?,
            None => write!(f, "{separator}-")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Status;
    use crate::sanitizer::SanitizerReport;

    fn ended(status: Status, stdout: &str) -> Ended {
        Ended {
            status,
            stdout: Captured::from(stdout.as_bytes()),
            stderr: Captured::default(),
        }
    }

    fn examined(old: Ended, new: Ended) -> Examined {
        let checked = |ended: &Ended| Checked {
            status: ended.status.clone(),
            report: None,
        };
        Examined {
            input: Input::default(),
            checked: vec![checked(&old), checked(&new)],
            plain: vec![old, new],
            account: Some(Account::default()),
            is_stable: true,
            names: Vec::new(),
        }
    }

    fn overflow(function: &str) -> Option<SanitizerReport> {
        Some(SanitizerReport {
            kind: "heap-buffer-overflow".into(),
            line: "ERROR: AddressSanitizer: heap-buffer-overflow".into(),
            place: None,
            function: Some(function.into()),
            text: String::new(),
        })
    }

    fn parting(line: u32) -> Parting {
        Parting {
            kind: "branch".into(),
            places: vec![Some(Place::new("a.c", line)), None],
        }
    }

    fn account(partings: &[Parting]) -> Option<Account> {
        Some(Account {
            partings: partings.to_vec(),
            ..Account::default()
        })
    }

    #[test]
    fn specifications_and_what_counts_as_output() {
        let fine = || ended(Status::Exit(0), "a");
        let mut found = examined(fine(), ended(Status::Exit(0), "b"));
        let failed = Specification {
            text: "PP1(n) == PP2(n)".into(),
            places: vec![Some(Place::new("a.c", 3)), None],
        };
        found.account = Some(Account {
            failed: vec![failed],
            ..Account::default()
        });
        assert_eq!(found.class(), Some(Class::Spec));
        let identity = found.identity(&HashSet::new()).unwrap();
        assert_eq!(identity.at, "PP1(n) == PP2(n) at a.c:3 / -");
        let mut outputs = Account {
            outputs: Some(Vec::new()),
            ..Account::default()
        };
        found.account = Some(outputs.clone());
        assert_eq!(found.class(), None);
        outputs.outputs = Some(vec![crate::programs::DifferentOutput {
            name: "total".into(),
            offset: 4,
        }]);
        found.account = Some(outputs.clone());
        assert_eq!(found.differing(), ["pp_output"]);
        assert_eq!(found.class(), Some(Class::Output));
        outputs.is_excluded = true;
        found.account = Some(outputs);
        assert_eq!(found.class(), None);
    }

    #[test]
    fn classes() {
        let fine = || ended(Status::Exit(0), "a");
        assert_eq!(examined(fine(), fine()).class(), None);
        let output = examined(fine(), ended(Status::Exit(1), "b"));
        assert_eq!(output.class(), Some(Class::Output));
        assert_eq!(output.differing(), ["stdout", "status"]);
        let status = examined(fine(), ended(Status::Exit(1), "a"));
        assert_eq!(status.class(), Some(Class::Status));
        let hang = examined(fine(), ended(Status::TimedOut, "a"));
        assert_eq!(hang.class(), Some(Class::Status));
        let killed = || ended(Status::Signal("SEGV".into()), "");
        assert_eq!(examined(fine(), killed()).class(), Some(Class::NewCrash));
        assert_eq!(examined(killed(), fine()).class(), Some(Class::FixedCrash));
        let mut flow = examined(fine(), fine());
        flow.account = account(&[parting(3)]);
        assert_eq!(flow.class(), Some(Class::Flow));
        // Code that only one version has is no other way by itself.
        let exit = Parting {
            kind: "exit".into(),
            ..parting(3)
        };
        flow.account = account(&[exit]);
        assert_eq!(flow.class(), None);
    }

    #[test]
    fn crashes_at_different_places_are_new() {
        let fine = || ended(Status::Exit(0), "a");
        let mut both = examined(fine(), fine());
        both.checked[0].report = overflow("f");
        both.checked[1].report = overflow("f");
        assert_eq!(both.class(), None);
        both.checked[1].report = overflow("g");
        assert_eq!(both.class(), Some(Class::NewCrash));
    }

    #[test]
    fn what_varies_by_itself_is_no_difference() {
        let mut varying = examined(ended(Status::Exit(0), "1"), ended(Status::Exit(0), "2"));
        varying.is_stable = false;
        assert_eq!(varying.class(), None);
    }

    #[test]
    fn harmless_partings_do_not_tell_findings_apart() {
        let mut output = examined(ended(Status::Exit(0), "1"), ended(Status::Exit(0), "2"));
        output.account = account(&[parting(3), parting(7)]);
        let at = |harmless: &[Parting]| {
            let harmless = harmless.iter().cloned().collect();
            output.identity(&harmless).unwrap().at
        };
        assert_eq!(at(&[]), "a.c:3 / -");
        assert_eq!(at(&[parting(3)]), "a.c:7 / -");
        assert_eq!(at(&[parting(3), parting(7)]), "a.c:7 / -");
        let mut written = output.clone();
        if let Some(account) = &mut written.account {
            account.write = Some(parting(9));
        }
        let harmless = HashSet::from([parting(3), parting(7)]);
        assert_eq!(written.identity(&harmless).unwrap().at, "a.c:9 / -");
    }
}
