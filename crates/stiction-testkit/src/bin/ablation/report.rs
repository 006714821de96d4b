//! The studies as Markdown and as JSON.

use crate::case::{Case, Grade};
use crate::study::{Loss, Removal, Study};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// Largest number of lost cases that the page names for a rung; JSON names all.
const MOST_NAMED: usize = 12;

/// One ladder with its cases and its study.
pub(crate) struct Chapter<R> {
    pub(crate) title: &'static str,
    pub(crate) cases: Vec<Case<R>>,
    pub(crate) study: Study<R>,
}

impl<R: Copy + PartialEq + Display> Chapter<R> {
    /// The chapter as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let (study, cases) = (&self.study, &self.cases);
        let mut text = format!("## {}\n\n", self.title);
        let rungs: Vec<String> = study.rungs.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "Rungs: {}.\n", rungs.join(", "));
        text += &self.sets();
        text += "\n### Without one rung\n\n";
        text += "| without | ran | decided | lost | lost, not promised | iterations | without | time | without |\n";
        text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
        for removal in &study.single {
            text += &row(removal, cases);
        }
        text += "\n### One rung after another\n\n";
        if study.eliminated.is_empty() {
            text += "Without any of the rungs something promised is lost.\n";
        } else {
            text += "Removed for as long as nothing promised is lost, each time the rung whose removal adds the fewest iterations:\n\n";
            text += "| removed | ran | decided | lost | lost, not promised | iterations | without | time | without |\n";
            text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
            for removal in &study.eliminated {
                text += &row(removal, cases);
            }
        }
        text += "\nLost if one of the others is removed as well:\n\n";
        for removal in &study.remaining {
            let _ = writeln!(
                text,
                "- `{}`, which decides {} cases: {}.",
                removal.rung,
                removal.decided,
                self.named(removal)
            );
        }
        text
    }

    /// Table of the sets: cases, and those that the whole ladder decides.
    fn sets(&self) -> String {
        let mut sets: BTreeMap<(&str, &str), [usize; 2]> = BTreeMap::new();
        for (case, run) in self.cases.iter().zip(&self.study.full) {
            let counts = sets.entry((&case.set, case.setting)).or_default();
            counts[0] += 1;
            counts[1] += usize::from(run.grade == Grade::Decided);
        }
        let mut text = String::from("| set | setting | cases | decided |\n|---|---|---:|---:|\n");
        for ((set, setting), [count, decided]) in sets {
            let _ = writeln!(text, "| {set} | {setting} | {count} | {decided} |");
        }
        text
    }

    /// The promised cases that are lost, by name, or the number of the others.
    fn named(&self, removal: &Removal<R>) -> String {
        let promised: Vec<&Loss> = removal.promised(&self.cases).collect();
        let name = |loss: &&Loss| {
            let case = &self.cases[loss.case];
            format!("{} {} ({}) ends at {:.0e}", case.set, case.name, case.setting, loss.residual)
        };
        let mut names: Vec<String> = promised.iter().take(MOST_NAMED).map(name).collect();
        if promised.len() > MOST_NAMED {
            names.push(format!("and {} more", promised.len() - MOST_NAMED));
        }
        if names.is_empty() {
            names.push("nothing promised".to_owned());
        }
        names.join("; ")
    }

    /// The chapter as JSON.
    pub(crate) fn json(&self) -> Value {
        let removals = |list: &[Removal<R>]| list.iter().map(|removal| self.removal(removal)).collect::<Vec<Value>>();
        let study = &self.study;
        let decided = study.full.iter().filter(|run| run.grade == Grade::Decided).count();
        json!({
            "ladder": self.title,
            "rungs": study.rungs.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "cases": self.cases.len(),
            "decided": decided,
            "without_one": removals(&study.single),
            "eliminated": removals(&study.eliminated),
            "remaining": removals(&study.remaining),
        })
    }

    fn removal(&self, removal: &Removal<R>) -> Value {
        let loss = |loss: &Loss| {
            let case = &self.cases[loss.case];
            json!({
                "set": case.set,
                "name": case.name,
                "setting": case.setting,
                "promised": case.promised,
                "before": loss.before.name(),
                "after": loss.after.name(),
                "residual": loss.residual,
            })
        };
        json!({
            "rung": removal.rung.to_string(),
            "ran": removal.ran,
            "decided": removal.decided,
            "lost": removal.losses.iter().map(loss).collect::<Vec<_>>(),
            "iterations": [removal.iterations.0, removal.iterations.1],
            "seconds": [removal.seconds.0, removal.seconds.1],
        })
    }
}

fn row<R: Display>(removal: &Removal<R>, cases: &[Case<R>]) -> String {
    let Removal { rung, ran, decided, losses, iterations, seconds } = removal;
    let promised = removal.promised(cases).count();
    let others = losses.len() - promised;
    format!(
        "| {rung} | {ran} | {decided} | {promised} | {others} | {} | {} | {:.2} s | {:.2} s |\n",
        iterations.0, iterations.1, seconds.0, seconds.1
    )
}
