//! See [`tamis_experiments::svt_monitoring`].

fn main() -> std::process::ExitCode {
    tamis_experiments::svt_monitoring::experiment().main()
}
