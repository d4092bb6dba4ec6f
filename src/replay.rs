//! `p3-ir replay` and `p3-ir minimise`: inputs that `p3-ir diff` has found, again.

use crate::diff::{differences_only, Watch};
use crate::merge::MergeOptions;
use crate::progress::Progress;
use crate::run::{some_seconds, INCONCLUSIVE};
use crate::{worker, Outcome};
use anyhow::Context as _;
use clap::Args;
use p3_hunt::examine::{examine, Class, Examined};
use p3_hunt::hunt::Watch as _;
use p3_hunt::minimise::Minimiser;
use p3_hunt::programs::{Programs, Sources};
use p3_hunt::replay::{self, Kept};
use p3_hunt::report::{self, Origin};
use p3_hunt::template::Template;
use p3_passes::{interruption, Error};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Arguments of `replay`.
#[derive(Args)]
pub struct ReplayArgs {
    /// Folders that diff has written, those of single findings, or files with the bytes of an input
    #[arg(required = true, value_name = "FOLDER|INPUT")]
    paths: Vec<PathBuf>,
    /// The folder that diff has written, if the inputs are elsewhere
    #[arg(long = "in", value_name = "DIR")]
    comparison: Option<PathBuf>,
    /// Build and run these versions instead of those that diff has compared
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
    versions: Option<Vec<OsString>>,
    /// A flag for clang when it builds them, besides those that diff had (repeatable)
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    clang_flag: Vec<OsString>,
}

/// Arguments of `minimise`.
#[derive(Args)]
pub struct MinimiseArgs {
    /// The folder of a finding, or a file with the bytes of an input
    #[arg(value_name = "FOLDER|INPUT")]
    path: PathBuf,
    /// The folder that diff has written, if the input is elsewhere
    #[arg(long = "in", value_name = "DIR")]
    comparison: Option<PathBuf>,
    /// The folder for the smaller input; by default the input's name with .min behind it
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How many seconds it may take
    #[arg(long, value_name = "S", default_value = "60", value_parser = some_seconds)]
    time: Duration,
}

/// Confirms again. Exit status 1 if the versions differ on any of the inputs.
pub fn replay(args: &ReplayArgs) -> Outcome {
    worker::end_by_request();
    let mut any = false;
    match replay_all(args, &mut any) {
        Err(_) if interruption::is_requested() => {
            eprintln!("p3-ir: interrupted");
            Ok(ExitCode::from(if any { 1 } else { INCONCLUSIVE }))
        }
        done => done.map(|()| ExitCode::from(u8::from(any))),
    }
}

/// `any` becomes true as soon as an input shows a difference.
fn replay_all(args: &ReplayArgs, any: &mut bool) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir().context("cannot create a temporary directory")?;
    let mut rebuilt: Option<(PathBuf, Programs)> = None;
    for path in &args.paths {
        let comparison = comparison(args.comparison.as_deref(), path)?;
        let recorded = replay::programs(&comparison)?;
        let kept = replay::inputs(path, &comparison, &recorded)?;
        let programs = match &args.versions {
            None => recorded,
            Some(versions) => match &rebuilt {
                Some((built_for, programs)) if *built_for == comparison => programs.clone(),
                _ => {
                    let folder = tempfile::tempdir_in(scratch.path())?.keep();
                    let programs = rebuild(&recorded, versions, &args.clang_flag, &folder)?;
                    rebuilt = Some((comparison.clone(), programs.clone()));
                    programs
                }
            },
        };
        for kept in kept {
            let examined = examine(&programs, &kept.input)?;
            let class = examined.class();
            *any |= class.is_some_and(Class::is_visible);
            println!(
                "{}: {}",
                kept.place.display(),
                verdict(class, kept.class, &examined)
            );
        }
    }
    Ok(())
}

fn verdict(class: Option<Class>, before: Option<Class>, examined: &Examined) -> String {
    let now = match class {
        Some(class) => class.to_string(),
        None if !examined.is_stable => "no difference that stays the same".to_string(),
        None => "no difference".to_string(),
    };
    match before {
        Some(before) if Some(before) != class => format!("{now} (was: {before})"),
        _ => now,
    }
}

fn comparison(given: Option<&Path>, path: &Path) -> p3_passes::Result<PathBuf> {
    replay::comparison(given.unwrap_or(path))
}

fn rebuild(
    recorded: &Programs,
    versions: &[OsString],
    flags: &[OsString],
    folder: &Path,
) -> anyhow::Result<Programs> {
    let [old, new] = versions else {
        return Err(Error::bad_input("--versions", "expected OLD NEW").into());
    };
    let mut merge = MergeOptions::default().pipeline_options(&[old.clone(), new.clone()]);
    merge.entry.clone_from(&recorded.entry);
    merge.weave.map.clone_from(&recorded.map);
    let mut sources = Sources {
        merge: differences_only(merge)?,
        prepare: None,
        flags: flags.to_vec(),
        program: recorded.program.clone(),
        template: Template::parse(&recorded.template).map_err(anyhow::Error::msg)?,
        timeout: Duration::from_millis(recorded.timeout),
    };
    recorded.besides.add_to(&mut sources);
    let mut watch = Watch::new("building");
    let (programs, warnings) = Programs::build(&sources, folder, watch.observer())?;
    drop(watch);
    for warning in warnings {
        eprintln!("p3-ir: warning: {warning}");
    }
    Ok(programs)
}

/// Makes an input smaller; an interruption leaves it as small as it is then. The versions have to differ on it.
pub fn minimise(args: &MinimiseArgs) -> Outcome {
    let comparison = comparison(args.comparison.as_deref(), &args.path)?;
    let programs = replay::programs(&comparison)?;
    let kept = replay::inputs(&args.path, &comparison, &programs)?;
    let [Kept { input, .. }] = kept.as_slice() else {
        return Err(Error::bad_input(&args.path, "expected one input").into());
    };
    let none = HashSet::new();
    worker::end_by_request();
    let examined = match examine(&programs, input) {
        Err(_) if interruption::is_requested() => {
            eprintln!("p3-ir: interrupted before anything was tried");
            return Ok(ExitCode::from(INCONCLUSIVE));
        }
        examined => examined?,
    };
    let Some(identity) = examined.identity(&none) else {
        return Err(Error::bad_input(&args.path, "the versions do not differ on it").into());
    };
    let template = Template::parse(&programs.template).map_err(anyhow::Error::msg)?;
    let minimiser = Minimiser {
        programs: &programs,
        template: Some(&template),
        is_same: &|examined| examined.identity(&none).as_ref() == Some(&identity),
        time: args.time,
    };
    let progress = Progress::new("minimising");
    let smaller = minimiser.minimise(examined)?;
    drop(progress);
    if interruption::is_requested() {
        eprintln!("p3-ir: interrupted: it may be made smaller still");
    }
    let origin = Origin {
        number: 1,
        engine: None,
        inputs: 1,
        after: 0.0,
        found: input.clone(),
        accepted: None,
    };
    let finding = origin.finding(&smaller, &none, &programs);
    let output = match &args.output {
        Some(output) => output.clone(),
        None => {
            let mut name = args.path.components().as_path().as_os_str().to_os_string();
            name.push(".min");
            name.into()
        }
    };
    report::write_alone(&finding, &output, &programs)?;
    println!("{}: {}", finding.class, finding.summary);
    println!("input: {}", finding.input.text());
    println!(
        "{} of {} bytes are left: {}",
        finding.input.weight,
        finding.weight_before,
        output.display()
    );
    Ok(ExitCode::SUCCESS)
}
