//! See [`tamis_experiments::conjunctions`].

fn main() -> std::process::ExitCode {
    tamis_experiments::conjunctions::experiment().main()
}
