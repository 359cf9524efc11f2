//! One page with every verdict, table and plot of a run in it: it opens without a network and runs no script.

use crate::command::Options;
use crate::experiment::Size;
use crate::files::machine;
use crate::finding::{FALSE_ALARM, MISSED, Verdict};
use crate::outcome::{Outcome, Picture};
use crate::table::{Table, escape};

const STYLE: &str = "\
:root{color-scheme:light dark;--page:#fff;--text:#1d1d1f;--faint:#666;--line:#d9d9de;--holds:#00664a;--inconclusive:#855700;--fails:#b00020}\
@media(prefers-color-scheme:dark){:root{--page:#17181a;--text:#e8e8ea;--faint:#a2a2a8;--line:#3a3b40;--holds:#4fcfa5;--inconclusive:#e5b04a;--fails:#ff7b86}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:96rem;margin:2rem auto;padding:0 1rem;color:var(--text);background:var(--page)}\
p,li{max-width:50rem;overflow-wrap:break-word}a{color:inherit}h1,h2{line-height:1.2}h2{margin-top:3.5rem;border-top:1px solid var(--line);padding-top:1.5rem}\
.faint,figcaption{color:var(--faint);font-size:.875rem}.holds{color:var(--holds)}.inconclusive{color:var(--inconclusive)}.fails{color:var(--fails);font-weight:bold}\
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-size:.8125rem;line-height:1.35}\
th,td{padding:.25rem .35rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}th{vertical-align:bottom}.rows tr>:last-child{position:sticky;right:0;background:var(--page);border-left:1px solid var(--line)}.facts td{overflow-wrap:anywhere}\
.number{text-align:right;font-variant-numeric:tabular-nums}td.number{white-space:nowrap}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem;margin:1rem 0}\
figure{margin:0;overflow-x:auto}figure svg{display:block;width:100%;min-width:34rem;max-width:54rem;height:auto;background:#fff}\
summary{cursor:pointer;margin:1rem 0}code{display:inline-block;max-width:100%;overflow-x:auto;white-space:nowrap;vertical-align:bottom;font-size:.875em}\
@media print{@page{size:A4 landscape;margin:12mm}:root{--page:#fff;--text:#000;--faint:#444;--line:#bbb;--holds:#00664a;--inconclusive:#855700;--fails:#b00020}\
body{font-size:10pt;max-width:none;margin:0;padding:0}h2{break-before:page;border:0;margin:0}table{font-size:6.5pt}th,td{padding:.1rem .3rem}\
figure,tr{break-inside:avoid}.figures{grid-template-columns:1fr 1fr}figure svg{min-width:0}.wide,figure{overflow:visible}details,figcaption{display:none}}";

/// What the page says before any experiment.
const INTRODUCTION: &str = "\
<p>Tamis answers sparse queries about private records: how many of the n records have one of the m keys of a list. What is released has noise \
in it, so that one record more or less (or another one instead) changes the probability of any outcome by a factor of e<sup>ε</sup> at most, but \
for a probability of δ. Each experiment runs mechanisms on data whose true answers are known, and holds them to what is claimed of them.</p>\n\
<p>A <em>row</em> is one setting: its parameters, what many runs of it measured, and what it is held to. A <em>bound</em> (promised, \
guaranteed, within) is computed before any run, by the function that a user of the library calls; it is what errors keep but for a \
probability of β, 0.05 here. Of runs the largest or worst error is printed as its 95 % quantile, so that by chance it can be a little \
beyond a bound that is true and sharp. A <em>verdict</em> says whether runs and claim agree.</p>\n";

/// Symbols, in all experiments.
const SYMBOLS: [(&str, &str); 22] = [
    ("n", "records; of the audit: runs on each of two inputs"),
    ("m", "keys of a list; points of a conjunction"),
    ("k", "queries, lists; of conjunctions: booleans left free"),
    ("k₁, k₂", "of the audit: on how many of its n runs each input led to the event"),
    ("c", "what a budget is divided by: alerts (⊤) of a sparse vector, corrections of a session, mechanisms composed"),
    ("ε, δ", "the privacy budget; δ = 0 is pure differential privacy"),
    ("ε₀", "the ε of one of c mechanisms"),
    (
        "α",
        "an error: of answers, of a threshold; a share of the records where the column says so; of the audit: the probability that a bound is false",
    ),
    ("β", "the probability with which a bound may be missed"),
    ("σ", "the standard deviation of Gaussian noise"),
    ("×", "a multiple of what is named beside it"),
    ("T", "rows of a projection; of a sparse vector the threshold"),
    ("s", "rows of a projection that a key is added to, each with a random sign; dense: all"),
    ("r", "how many keys at a time have independent signs"),
    ("d", "booleans of a record"),
    ("X", "all possible keys"),
    ("B", "how often the hypothesis of a session can be wrong, so how many corrections it can need"),
    ("⊤, ⊥", "what a sparse vector says: above its threshold, and not"),
    ("#", "a number that is released"),
    ("over, refused", "of the audit: what was asked after the end, or cannot be had; an outcome like others"),
    ("U(a, b)", "two inputs of the audit: a answers that grow by 1, b that shrink by 1"),
    ("L", "records of a person"),
];

/// What tables and claims cite.
const SOURCES: [(&str, &str); 4] = [
    ("DR14", "C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014"),
    ("BR11, Blum and Roth 2011", "A. Blum, A. Roth, Fast Private Data Release Algorithms for Sparse Queries, 2011"),
    ("KOV15", "P. Kairouz, S. Oh, P. Viswanath, The Composition Theorem for Differential Privacy, 2015"),
    ("HR10", "M. Hardt, G. Rothblum, A Multiplicative Weights Mechanism for Privacy-Preserving Data Analysis, 2010"),
];

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
    let facts = facts(machine().iter().map(|(name, value)| (*name, value.as_str())));
    let (symbols, sources, size) = (self::facts(SYMBOLS), self::facts(SOURCES), options.size);
    let part = match size {
        Size::Brief => " A part of the quick size; checks and plots that need its other rows are left out.",
        Size::Quick | Size::Full => "",
    };
    format!(
        "<h1>Tamis: <span class=\"{worst}\">{headline}</span></h1>\n{INTRODUCTION}\
         <div class=\"wide\"><table>\n<tr><th>experiment</th><th>verdict</th><th>rows and checks</th><th class=\"number\">seconds</th><th>about</th></tr>\n{rows}</table></div>\n\
         <p>Size {size}, seed {}: repeatable, and not private.{part} All of it again: <code>cargo run --release --bin reproduce{}</code></p>\n\
         {facts}\
         <p class=\"faint\">A claim about a probability is judged by exact binomial confidence limits on what was counted. It <em>fails</em> if what was seen \
         contradicts it, which happens to a true claim with probability {FALSE_ALARM:e} at most, and <em>holds</em> only if it would not have passed were it \
         false by a stated margin, but for a probability of {MISSED}. Between them it is <em>inconclusive</em>. Rows with their reasons are in each \
         experiment's <code>rows.csv</code>.</p>\n\
         <h2 id=\"symbols\">Symbols</h2>\n{symbols}<h2 id=\"sources\">Sources</h2>\n{sources}",
        options.seed,
        size.flag(),
    )
}

/// A table of names and what they are.
fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let rows = facts.into_iter().map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>\n", escape(value)));
    format!("<table class=\"facts\">\n{}</table>\n", rows.collect::<String>())
}

/// One experiment.
fn section(outcome: &Outcome) -> String {
    let name = outcome.name;
    let html = |highlights_only| outcome.tables(highlights_only).iter().map(Table::html).collect::<String>();
    let figure = |plot: &Picture| {
        let Picture { svg, file, .. } = plot;
        format!("<figure>{svg}<figcaption><a href=\"{name}/{file}\">as a file</a></figcaption></figure>\n")
    };
    let figures: String = outcome.plots.iter().map(figure).collect();
    let figures = if figures.is_empty() { figures } else { format!("<div class=\"figures\">\n{figures}</div>\n") };
    let findings: String = outcome.findings().iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    let findings = if findings.is_empty() { findings } else { format!("<ul>\n{findings}</ul>\n") };
    let rest = if outcome.highlights.iter().all(|&is_shown| is_shown) {
        String::new()
    } else {
        format!("<details><summary>All {} rows</summary>\n{}</details>\n", outcome.rows.rows.len(), html(false))
    };
    let timings = outcome.timings().map_or(String::new(), |_| format!(", <a href=\"{name}/timings.csv\">timings</a>"));
    format!(
        "<section id=\"{name}\">\n<h2><code>{name}</code> {5}: <span class=\"{0}\">{0}</span></h2>\n<p>{1}</p>\n{2}{figures}{findings}{rest}\
         <p class=\"faint\">{3} Again: <code>{4}</code> · \
         <a href=\"{name}/rows.csv\">rows</a>, <a href=\"{name}/table.md\">table</a>, <a href=\"{name}/manifest.json\">manifest</a>{timings}</p>\n</section>\n",
        outcome.verdict(),
        escape(outcome.claim),
        html(true),
        escape(&outcome.statement()),
        outcome.command(),
        escape(outcome.subject),
    )
}
