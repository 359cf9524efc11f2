//! See [`tamis_experiments::composition`].

fn main() -> std::process::ExitCode {
    tamis_experiments::composition::experiment().main()
}
