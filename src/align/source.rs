//! Source files, read from where debug info says they are.

use p3_passes::align::SourcePlace;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files read so far; none for those that cannot be read.
#[derive(Default)]
pub struct Sources(HashMap<PathBuf, Option<Vec<String>>>);

impl Sources {
    /// The text of a line, if its file is there.
    pub fn line(&mut self, place: &SourcePlace) -> Option<&str> {
        let path = Path::new(&place.directory).join(&place.file);
        let lines = self.0.entry(path).or_insert_with_key(|path| {
            // A build directory that is gone may still have its sources here.
            let data = std::fs::read(path).or_else(|_| std::fs::read(&place.file));
            let text = String::from_utf8_lossy(&data.ok()?).into_owned();
            Some(text.lines().map(str::to_string).collect())
        });
        let index = (place.line as usize).checked_sub(1)?;
        lines.as_ref()?.get(index).map(String::as_str)
    }
}

/// The last component of the file's path and the line.
pub fn short(place: &SourcePlace) -> String {
    let name = Path::new(&place.file).file_name();
    let name = name.map_or(place.file.clone(), |n| n.to_string_lossy().into_owned());
    format!("{name}:{}", place.line)
}
