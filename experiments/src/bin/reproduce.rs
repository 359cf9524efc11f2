//! Runs every experiment, writes the results and prints the papers' table.

fn main() -> std::process::ExitCode {
    tamis_harness::reproduce(vec![
        Box::new(tamis_experiments::svt_accuracy::experiment()),
        Box::new(tamis_experiments::svt_monitoring::experiment()),
        Box::new(tamis_experiments::smw_accuracy::experiment()),
        Box::new(tamis_experiments::smw_universe::experiment()),
        Box::new(tamis_experiments::projection_accuracy::experiment()),
        Box::new(tamis_experiments::projection_independence::experiment()),
        Box::new(tamis_experiments::conjunctions::experiment()),
        Box::new(tamis_experiments::composition::experiment()),
        Box::new(tamis_experiments::crossover::experiment()),
        Box::new(tamis_experiments::audit::experiment()),
    ])
}
