//! Versions in memory: the pipeline without files, and what it tells its observer.

use p3_passes::load::{Input, Source};
use p3_passes::pipeline::{self, Observer, Options, PrepareLevel, ProductChecks};
use p3_passes::weave::WeaveOptions;
use p3_passes::{new_context, Error, Module};

const PROGRAM: &str = "define i32 @main() {\n  ret i32 3\n}\n";

fn input(name: &str, data: &[u8]) -> Input {
    Input {
        files: vec![Source::Bytes {
            name: name.to_string(),
            data: data.into(),
        }],
    }
}

fn options(inputs: Vec<Input>) -> Options {
    Options {
        inputs,
        entry: "main".to_string(),
        prepare: PrepareLevel::Fold,
        checks: ProductChecks::default(),
        weave: WeaveOptions {
            none: true,
            ..WeaveOptions::default()
        },
        native_libraries: Vec::new(),
        harness: false,
        sites: false,
        verify: false,
    }
}

/// Writes down what it is told.
#[derive(Default)]
struct Log(Vec<String>);

impl Observer for Log {
    fn reading(&mut self, place: &str, size: usize) {
        self.0.push(format!("reading {place}, {size} bytes"));
    }

    fn read(&mut self) {
        self.0.push("read".to_string());
    }

    fn after(
        &mut self,
        pass: &'static str,
        version: Option<usize>,
        _: &Module,
    ) -> Result<(), Error> {
        self.0.push(format!("{pass} {version:?}"));
        Ok(())
    }
}

#[test]
fn versions_in_memory_are_merged() {
    let context = new_context();
    let assembly = input("first", PROGRAM.as_bytes());
    let module = context
        .create_module_from_ir(
            inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(
                PROGRAM.as_bytes(),
                "second",
            ),
        )
        .unwrap();
    let bitcode = module.write_bitcode_to_memory();
    let options = options(vec![assembly, input("second", bitcode.as_slice())]);
    let mut log = Log::default();
    let product = pipeline::merge(&context, &options, &mut log).unwrap();
    assert!(product.module.get_function("main").is_some());
    assert_eq!(product.report.versions[1].files, ["second"]);
    let begin = [
        format!("reading first, {} bytes", PROGRAM.len()),
        "read".to_string(),
        "load Some(1)".to_string(),
        "link Some(1)".to_string(),
    ];
    assert_eq!(log.0[..4], begin);
    assert_eq!(log.0.last().unwrap(), "finish None");
}

#[test]
fn errors_name_the_version() {
    let context = new_context();
    let cases: [(&[u8], &str); 4] = [
        (b"", "broken: empty file"),
        (b"define", "broken:1:7: expected type"),
        (
            b"BC\xC0\xDE",
            "broken: truncated bitcode: 4 bytes and no block",
        ),
        (
            b"\x7fELF",
            "broken: damaged ELF file: Could not read file magic",
        ),
    ];
    for (data, message) in cases {
        let inputs = vec![input("good", PROGRAM.as_bytes()), input("broken", data)];
        let mut log = Log::default();
        let Err(error) = pipeline::merge(&context, &options(inputs), &mut log) else {
            panic!("merged {data:?}");
        };
        assert_eq!(error.to_string(), message);
        assert_eq!(error.exit_status(), 2);
    }
}

#[test]
fn the_number_of_versions_is_bounded() {
    let context = new_context();
    for count in [1, 17] {
        let inputs = vec![input("version", PROGRAM.as_bytes()); count];
        let Err(error) = pipeline::merge(&context, &options(inputs), &mut Log::default()) else {
            panic!("merged {count} versions");
        };
        let message = error.to_string();
        assert!(message.ends_with(&format!("{count} versions given, 2 to 16 can be merged")));
    }
}
