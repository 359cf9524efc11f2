//! See [`tamis_experiments::smw_universe`].

fn main() -> std::process::ExitCode {
    tamis_experiments::smw_universe::experiment().main()
}
