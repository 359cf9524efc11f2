//! One page with every verdict, table and plot of a run in it: it opens without a network and runs no script.

use crate::command::Options;
use crate::experiment::Size;
use crate::files::machine;
use crate::finding::{FALSE_ALARM, MISSED, Verdict};
use crate::outcome::Outcome;
use crate::table::escape;

const STYLE: &str = "\
:root{color-scheme:light dark;--page:#fff;--text:#1d1d1f;--faint:#666;--line:#d9d9de;--holds:#00664a;--inconclusive:#855700;--fails:#b00020}\
@media(prefers-color-scheme:dark){:root{--page:#17181a;--text:#e8e8ea;--faint:#a2a2a8;--line:#3a3b40;--holds:#4fcfa5;--inconclusive:#e5b04a;--fails:#ff7b86}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:84rem;margin:2rem auto;padding:0 1rem;color:var(--text);background:var(--page)}\
p,li{max-width:50rem;overflow-wrap:break-word}a{color:inherit}h1,h2{line-height:1.2}h2{margin-top:3.5rem;border-top:1px solid var(--line);padding-top:1.5rem}\
.faint,figcaption{color:var(--faint);font-size:.875rem}.holds{color:var(--holds)}.inconclusive{color:var(--inconclusive)}.fails{color:var(--fails);font-weight:bold}\
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-size:.8125rem;line-height:1.35}\
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;white-space:nowrap}th{vertical-align:bottom;white-space:normal}.rows tr>:last-child{position:sticky;right:0;background:var(--page)}.facts td{white-space:normal;overflow-wrap:anywhere}\
.number{text-align:right;font-variant-numeric:tabular-nums}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem;margin:1rem 0}\
figure{margin:0;overflow-x:auto}figure svg{display:block;width:100%;min-width:34rem;max-width:54rem;height:auto;background:#fff}\
summary{cursor:pointer;margin:1rem 0}code{display:inline-block;max-width:100%;overflow-x:auto;white-space:nowrap;vertical-align:bottom;font-size:.875em}\
@media print{@page{size:A4 landscape;margin:12mm}:root{--page:#fff;--text:#000;--faint:#444;--line:#bbb;--holds:#00664a;--inconclusive:#855700;--fails:#b00020}\
body{font-size:10pt;max-width:none;margin:0;padding:0}h2{break-before:page;border:0;margin:0}table{font-size:6.5pt}th,td{padding:.1rem .3rem}\
figure,tr{break-inside:avoid}.figures{grid-template-columns:1fr 1fr}figure svg{min-width:0}.wide,figure{overflow:visible}details,figcaption{display:none}}";

/// The page.
pub(crate) fn report(outcomes: &[Outcome], options: &Options) -> String {
    let sections: String = outcomes.iter().map(section).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Tamis: results</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{}{sections}</body>\n</html>\n",
        front(outcomes, options)
    )
}

/// Verdicts, machine, and what a verdict means.
fn front(outcomes: &[Outcome], options: &Options) -> String {
    let worst = outcomes.iter().map(Outcome::verdict).max().unwrap_or(Verdict::Inconclusive);
    let headline = match worst {
        Verdict::Holds => "every claim holds",
        Verdict::Inconclusive => "no claim fails, but not all are decided",
        Verdict::Fails => "a claim fails",
    };
    let row = |outcome: &Outcome| {
        format!(
            "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"{1}\">{1}</td><td>{2}</td><td class=\"number\">{3}</td><td>{4}</td></tr>\n",
            outcome.name,
            outcome.verdict(),
            outcome.tally(),
            outcome.seconds(),
            escape(outcome.subject)
        )
    };
    let rows: String = outcomes.iter().map(row).collect();
    let facts = machine().iter().map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>\n", escape(value)));
    let (facts, size) = (facts.collect::<String>(), options.size);
    let part = match size {
        Size::Brief => " A part of the quick size; checks and plots that need its other rows are left out.",
        Size::Quick | Size::Full => "",
    };
    format!(
        "<h1>Tamis: <span class=\"{worst}\">{headline}</span></h1>\n\
         <div class=\"wide\"><table>\n<tr><th>experiment</th><th>verdict</th><th>rows and checks</th><th class=\"number\">seconds</th><th>about</th></tr>\n{rows}</table></div>\n\
         <p>Size {size}, seed {}: repeatable, and not private.{part} All of it again: <code>cargo run --release --bin reproduce{}</code></p>\n\
         <table class=\"facts\">\n{facts}</table>\n\
         <p class=\"faint\">A claim about a probability is judged by exact binomial confidence limits on what was counted. It <em>fails</em> if what was seen \
         contradicts it, which happens to a true claim with probability {FALSE_ALARM:e} at most, and <em>holds</em> only if it would not have passed were it \
         false by a stated margin, but for a probability of {MISSED}. Between them it is <em>inconclusive</em>. Rows with their reasons are in each \
         experiment's <code>rows.csv</code>.</p>\n",
        options.seed,
        size.flag(),
    )
}

/// One experiment.
fn section(outcome: &Outcome) -> String {
    let (name, short, whole) = (outcome.name, outcome.table(true), outcome.table(false));
    let figure = |(file, svg): &(String, String)| {
        format!("<figure>{svg}<figcaption><a href=\"{name}/{file}\">{file}</a></figcaption></figure>\n")
    };
    let figures: String = outcome.plots.iter().map(figure).collect();
    let figures = if figures.is_empty() { figures } else { format!("<div class=\"figures\">\n{figures}</div>\n") };
    let findings: String = outcome.findings().iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    let findings = if findings.is_empty() { findings } else { format!("<ul>\n{findings}</ul>\n") };
    let rest = match whole.rows.len() - short.rows.len() {
        0 => String::new(),
        _ => format!("<details><summary>All {} rows</summary>\n{}</details>\n", whole.rows.len(), whole.html()),
    };
    let timings = outcome.timings().map_or(String::new(), |_| format!(", <a href=\"{name}/timings.csv\">timings</a>"));
    format!(
        "<section id=\"{name}\">\n<h2>{name}: <span class=\"{0}\">{0}</span></h2>\n<p>{1}</p>\n{2}{figures}{findings}{rest}\
         <p class=\"faint\">{3} Again: <code>{4}</code> · \
         <a href=\"{name}/rows.csv\">rows</a>, <a href=\"{name}/table.md\">table</a>, <a href=\"{name}/manifest.json\">manifest</a>{timings}</p>\n</section>\n",
        outcome.verdict(),
        escape(outcome.claim),
        short.html(),
        escape(&outcome.statement()),
        outcome.command(),
    )
}
