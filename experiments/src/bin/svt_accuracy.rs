//! See [`tamis_experiments::svt_accuracy`].

fn main() -> std::process::ExitCode {
    tamis_experiments::svt_accuracy::experiment().main()
}
