//! See [`tamis_experiments::smw_accuracy`].

fn main() -> std::process::ExitCode {
    tamis_experiments::smw_accuracy::experiment().main()
}
