//! See [`tamis_experiments::crossover`].

fn main() -> std::process::ExitCode {
    tamis_experiments::crossover::experiment().main()
}
