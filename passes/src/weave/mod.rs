//! **weave**: adds the product functions, in which matched code of all versions runs in lock-step.
//!
//! Input: the product module with all versions renamed and linked in. Guarantee: the versions' plain functions
//! stay as they are; for every matched function there is `_PP_f`, which runs all versions' activations of f
//! together, and `_PP_f.diverged`, which finishes an activation whose versions have parted. Behaviour of each
//! version is that of its plain functions, whatever the matcher said: a wrong match costs lock-step only.
//!
//! Not woven, with the reason in the report: see [`align::not_woven_reason`] and
//! [`align::nothing_woven_reason`]. A version that ended inside a call is a divergence like any other, since
//! the test of its alive flag is a branch of its own code.
//!
//! The construction (lock-step function in SSA form with exits into a continuation that keeps its values in
//! memory) is that of an optimised tier with on-stack replacement into a baseline tier.

mod branches;
mod continuation;
mod emit;
mod forks;
mod frames;
mod hand_over;
mod lockstep;
mod lockstep_checks;
mod model;
mod plan;
mod products;
mod scaffold;
mod specs;
mod switches;
mod weights;

use crate::align;
use crate::llvm::{self, Context, Module, Value};
use crate::native::Natives;
use crate::nodes::Graph;
use crate::pipeline::{Observer, Options};
use crate::{lookup, rename, runtime, spec, Result};
use continuation::Continuation;
use forks::Forks;
pub(crate) use lockstep_checks::text_of;
use lockstep_checks::LockstepChecks;
pub(crate) use model::MEMBERS;
use model::{Model, Models};
use plan::Plan;
pub(crate) use products::keep_jumps;
use products::{Product, Products};
use scaffold::Scaffold;
use serde::Serialize;
use specs::Equal;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// What a continuation's name ends with.
const CONTINUATION: &str = ".diverged";

/// Whether the function finishes activations whose versions have parted.
pub(crate) fn is_continuation(function: Value) -> bool {
    let name = function.name_text();
    name.starts_with("_PP_") && name.ends_with(CONTINUATION)
}

/// What weaving did with one function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// The function's name, without prefix, in the first version that has it.
    pub name: String,
    /// The versions (counted from 1) that have it.
    pub versions: Vec<usize>,
    /// Nodes of each version's function, in which calls of what stands in for libc are nodes, too (`p3-ir align` has
    /// the program without that).
    pub nodes: Vec<usize>,
    /// Nodes that the matcher finds in all of these versions; where there is a model without a woven function behind it,
    /// all of the first one's.
    pub matched: usize,
    /// Why it runs one version after the other; none if it is woven.
    pub sequential: Option<String>,
}

/// What is woven and what is not.
#[derive(Clone, Debug, Default)]
pub struct WeaveOptions {
    /// Do not weave at all.
    pub none: bool,
    /// Functions (names without prefix) that stay sequential.
    pub except: Vec<String>,
    /// Functions that correspond under different names: old, new.
    pub map: Vec<(String, String)>,
    /// Bitcode files with hand-written product functions.
    pub models: Vec<PathBuf>,
    /// C files of the same.
    pub specs: Vec<PathBuf>,
    /// Functions whose results have to be equal whenever all versions have called them together.
    pub equal_returns: Vec<String>,
    /// The same of their arguments.
    pub equal_arguments: Vec<String>,
    /// Whether to report, too, where versions leave lock-step without a branch that both have.
    pub exits: bool,
}

/// What weaving did, and what it leaves standing for the checker.
pub(crate) struct Woven {
    pub(crate) reports: Vec<FunctionReport>,
    scaffolds: Vec<Scaffold>,
    /// The product functions and the numbers of their members.
    functions: Vec<(Value, usize)>,
    pub(crate) warnings: Vec<String>,
}

impl Woven {
    /// Brings all product functions into their final form.
    pub(crate) fn finish(&mut self) {
        self.scaffolds.drain(..).for_each(Scaffold::remove);
        for (function, members) in self.functions.drain(..) {
            scaffold::settle_activations(function, members);
        }
    }
}

/// Weaves the versions' functions in `module`. `bound[i]` are the names of libc that version i's program refers
/// to and the runtime stands in for.
pub(crate) fn weave<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    bound: &[Vec<String>],
    natives: &Natives,
    options: &Options,
    observe: &mut dyn Observer,
) -> Result<Woven> {
    let count = bound.len();
    let (verify, checks, options) = (options.verify, options.checks, &options.weave);
    let forks = Forks::of(module, bound)?;
    let specs = model::compile(&options.specs)?;
    let files: Vec<(PathBuf, &Path)> = options
        .models
        .iter()
        .map(|file| (file.clone(), file.as_path()))
        .chain(
            specs
                .files
                .iter()
                .map(|(bitcode, file)| (bitcode.clone(), *file)),
        )
        .collect();
    let models = Models::link(context, module, &files, count, observe)?;
    let equal = Equal {
        returns: options.equal_returns.clone(),
        arguments: options.equal_arguments.clone(),
    };
    let nothing_woven = natives
        .not_woven_reason()
        .or_else(|| align::nothing_woven_reason(module, bound));
    let sequential = |name: &str, members: &[Value]| {
        if options.except.iter().any(|except| except == name) {
            return Some(EXCLUDED.to_string());
        }
        let nothing_woven = nothing_woven.clone();
        nothing_woven.or_else(|| align::not_woven_reason(members))
    };
    let Correspondence {
        groups,
        mut reports,
        mut warnings,
    } = Correspondence::of(module, count, &options.map, &sequential);
    let mut declared = Vec::new();
    for (index, (report, group)) in reports.iter().zip(&groups).enumerate() {
        let name = &report.name;
        if let Some(reason) = &report.sequential {
            let options = equal.options(name).into_iter();
            warnings.extend(options.map(|option| format!("{option} is never checked: {reason}")));
        } else {
            let product = Product::declare(module, &format!("_PP_{name}"), group.members.clone());
            equal.check(&product, name)?;
            declared.push((product, index));
        }
    }
    equal.unknown(&|name| reports.iter().any(|report| report.name == name))?;
    let (all, report_of): (Vec<Product>, Vec<usize>) = declared.into_iter().unzip();
    let group_of: HashMap<Value, usize> = all
        .iter()
        .enumerate()
        .flat_map(|(index, product)| product.present().into_iter().map(move |f| (f, index)))
        .collect();
    let called_group = |callee: Value| group_of.get(&callee).copied();
    match_sequential(&mut reports, &groups, &called_group);
    warnings.extend(models.unused(&reports));
    let lockstep_checks = LockstepChecks::new(module, checks, options.exits, equal, count);
    let apart = if lockstep_checks.divergence {
        corresponding(module, &groups, &group_of, count)
    } else {
        Vec::new()
    };
    let products = Products::new(module, all, &forks, &lockstep_checks, apart);
    let (mut scaffolds, mut functions) = (Vec::new(), Vec::new());
    for (product, report) in products.all.iter().zip(report_of) {
        let model = models.implement(module, product, &reports[report].name)?;
        let woven = match &model {
            Model::None => product,
            Model::Around(woven) => woven,
            Model::Alone => {
                reports[report].matched = reports[report].nodes[0];
                continue;
            }
        };
        let (matched, scaffold) = weave_function(module, woven, &products, &called_group);
        reports[report].matched = matched;
        functions.push((woven.function, woven.present().len()));
        // Only the checker looks at scaffolds: without it they need not pile up.
        match verify {
            true => scaffolds.push(scaffold),
            false => scaffold.remove(),
        }
    }
    products.emit_dispatchers();
    let reason = |name: &str| {
        let report = reports.iter().find(|report| report.name == name)?;
        report.sequential.clone()
    };
    warnings.extend(specs::never_evaluated(module, count, &reason));
    Ok(Woven {
        reports,
        scaffolds,
        functions,
        warnings,
    })
}

/// The functions of a product that is not woven at all, and warnings.
pub(crate) fn not_woven(
    module: &Module,
    count: usize,
    options: &WeaveOptions,
) -> (Vec<FunctionReport>, Vec<String>) {
    let excluded = |_: &str, _: &[Value]| Some(EXCLUDED.to_string());
    let Correspondence {
        groups,
        mut reports,
        mut warnings,
    } = Correspondence::of(module, count, &options.map, &excluded);
    match_sequential(&mut reports, &groups, &|_| None);
    let unused = |file: &PathBuf| {
        let what = "hand-written product functions are not used with --no-weave";
        format!("{}: {what}", file.display())
    };
    warnings.extend(options.models.iter().map(unused));
    (reports, warnings)
}

/// Why functions are not woven that the user does not want to be.
const EXCLUDED: &str = "excluded by --no-weave";

/// The functions of all versions that correspond.
struct Correspondence {
    groups: Vec<align::FunctionGroup>,
    /// One of each group.
    reports: Vec<FunctionReport>,
    warnings: Vec<String>,
}

impl Correspondence {
    /// `sequential` as for [`FunctionReport::of`].
    fn of(
        module: &Module,
        count: usize,
        map: &[(String, String)],
        sequential: &dyn Fn(&str, &[Value]) -> Option<String>,
    ) -> Correspondence {
        let functions: Vec<Vec<Value>> = (0..count)
            .map(|version| candidates(module, version))
            .collect();
        let groups = align::match_functions(&functions, map);
        Correspondence {
            warnings: align::unused_pairs(&functions, &groups, map),
            reports: groups
                .iter()
                .map(|group| FunctionReport::of(group, sequential))
                .collect(),
            groups,
        }
    }
}

impl FunctionReport {
    /// `sequential` tells why a function of this name with these members is not woven.
    fn of(
        group: &align::FunctionGroup,
        sequential: &dyn Fn(&str, &[Value]) -> Option<String>,
    ) -> FunctionReport {
        let (versions, members): (Vec<usize>, Vec<Value>) = group
            .members
            .iter()
            .enumerate()
            .filter_map(|(version, member)| Some((version, (*member)?)))
            .unzip();
        let name = plain_name(members[0], versions[0]);
        let sequential = if members.len() < 2 {
            Some(align::ALONE.to_string())
        } else {
            sequential(&name, &members)
        };
        FunctionReport {
            name,
            versions: versions.iter().map(|version| version + 1).collect(),
            nodes: members.iter().map(|&f| Graph::of(f).nodes.len()).collect(),
            matched: 0,
            sequential,
        }
    }
}

/// Counts the matched nodes of functions that are not woven: they say how much the versions differ there, too.
fn match_sequential(
    reports: &mut [FunctionReport],
    groups: &[align::FunctionGroup],
    called_group: &dyn Fn(Value) -> Option<usize>,
) {
    for (report, group) in reports.iter_mut().zip(groups) {
        let members = group.present();
        if report.sequential.is_some() && members.len() > 1 {
            let graphs: Vec<Graph> = members.into_iter().map(Graph::of).collect();
            report.matched = align::match_nodes(&graphs, called_group).groups.len();
        }
    }
}

/// Functions that correspond, one per version, but have no product function. Pointers to them mean the same.
fn corresponding(
    module: &Module,
    groups: &[align::FunctionGroup],
    group_of: &HashMap<Value, usize>,
    count: usize,
) -> Vec<Vec<Value>> {
    let mut found: Vec<Vec<Value>> = Vec::new();
    for group in groups {
        let members = group.present();
        if members.len() == count && !group_of.contains_key(&members[0]) {
            found.push(members);
        }
    }
    let of_all_versions = |name: &str| -> Vec<Value> {
        (0..count)
            .filter_map(|i| llvm::global_named(module, &format!("{}{name}", rename::prefix(i))))
            .collect()
    };
    // What an ifunc stands for is known when the program runs.
    for first in llvm::ifuncs(module) {
        let members = of_all_versions(&plain_name(first, 0));
        if members.len() == count && members.iter().all(|member| member.is_ifunc()) {
            found.push(members);
        }
    }
    // What stands in for libc's functions.
    for first in llvm::functions(module) {
        let name = plain_name(first, 0);
        if !first.is_declaration() && runtime::is_runtime(first) && first.name_text() != name {
            let members = of_all_versions(&name);
            if members.len() == count && !group_of.contains_key(&first) {
                found.push(members);
            }
        }
    }
    found.retain(|members| {
        let mut members = members.iter();
        members.all(|member| member.is_ifunc() || lookup::is_pointed_to(*member))
    });
    found
}

/// The functions of a version that may be woven: the program's, and the ones of the runtime through which
/// core/ runs it.
fn candidates(module: &Module, version: usize) -> Vec<Value> {
    let prefix = rename::prefix(version);
    llvm::functions(module)
        .into_iter()
        .filter(|function| !function.is_declaration())
        .filter(|function| function.name_text().starts_with(&prefix))
        .filter(|&function| {
            let name = plain_name(function, version);
            !spec::is_relation(&name)
                && (!runtime::is_runtime(function) || runtime::WOVEN.contains(&name.as_str()))
        })
        .collect()
}

fn plain_name(function: Value, version: usize) -> String {
    let name = function.name_text();
    name.strip_prefix(&rename::prefix(version))
        .map_or(name.clone(), str::to_string)
}

/// Writes one product function; returns how many nodes are matched, and its scaffold.
fn weave_function(
    module: &Module,
    product: &Product,
    products: &Products,
    called_group: &dyn Fn(Value) -> Option<usize>,
) -> (usize, Scaffold) {
    let graphs: Vec<Graph> = product.present().into_iter().map(Graph::of).collect();
    let matched = align::match_nodes(&graphs, called_group);
    let matched_count = matched.groups.len();
    let alive: Vec<Value> = product
        .versions()
        .into_iter()
        .map(|version| products.forks.alive(version))
        .collect();
    let plan = Plan::new(graphs, matched, &alive);
    let subprogram = product
        .present()
        .iter()
        .find_map(|member| product.function.make_subprogram(*member));
    let continuation = Continuation::declare(module, &plan, product);
    let (exits, mut scaffold): (BTreeSet<_>, _) =
        lockstep::emit(&plan, product, products, &continuation, subprogram);
    if exits.is_empty() {
        continuation.function.delete_function();
    } else {
        let subprogram = product
            .present()
            .iter()
            .find_map(|member| continuation.function.make_subprogram(*member));
        let rest = continuation.emit(&plan, product, products, exits, subprogram);
        scaffold.continuation = Some(rest);
    }
    (matched_count, scaffold)
}
