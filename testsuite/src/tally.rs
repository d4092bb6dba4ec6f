//! Counts what became of functions, over all merges of a test run.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

/// The counts; tests that run at once add to the same.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    merges: usize,
    woven: usize,
    nodes: u64,
    matched: u64,
    single: usize,
    sequential: BTreeMap<String, usize>,
}

impl Tally {
    /// Adds what a merge has written with `--report`. Sequential products do not count.
    pub fn add(&self, report: &Path) -> Result<()> {
        let text = std::fs::read_to_string(report)?;
        let report: Value = serde_json::from_str(&text)?;
        let functions = report["woven"].as_array().context("no list `woven`")?;
        let mut counts = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let is_woven = |function: &Value| function["sequential"].is_null();
        if !functions.iter().any(is_woven) {
            return Ok(());
        }
        counts.merges += 1;
        for function in functions {
            let versions = function["versions"].as_array().map_or(0, Vec::len);
            match function["sequential"].as_str() {
                _ if versions == 1 => counts.single += 1,
                Some(reason) => *counts.sequential.entry(reason.to_string()).or_default() += 1,
                None => {
                    let nodes = function["nodes"].as_array();
                    let smallest =
                        nodes.and_then(|nodes| nodes.iter().filter_map(Value::as_u64).min());
                    counts.woven += 1;
                    counts.nodes += smallest.unwrap_or_default();
                    counts.matched += function["matched"].as_u64().unwrap_or_default();
                }
            }
        }
        Ok(())
    }
}

impl Tally {
    /// Nodes of woven functions that were not matched, in the smallest versions.
    pub fn unmatched(&self) -> u64 {
        let counts = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        counts.nodes - counts.matched
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let counts = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let sequential: usize = counts.sequential.values().sum();
        writeln!(
            f,
            "functions of {} woven products: {} woven ({} nodes in the smallest versions, {} matched), \
             {sequential} sequential, {} in one version only",
            counts.merges, counts.woven, counts.nodes, counts.matched, counts.single
        )?;
        let mut reasons: Vec<_> = counts.sequential.iter().collect();
        reasons.sort_by_key(|(_, &count)| std::cmp::Reverse(count));
        for (reason, count) in reasons {
            writeln!(f, "{count:6} sequential: {reason}")?;
        }
        Ok(())
    }
}
