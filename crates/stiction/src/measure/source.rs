//! Source of the columns of a run: files or memory.

use std::{collections::BTreeSet, ops::Range};

use super::syntax::{Function, Kind, Node};
use crate::record::{Column, ColumnKind, RecordingError, RunTables};

/// A run whose columns are accessed by name.
pub trait Source {
    /// Step size of the run, s.
    fn step(&self) -> f64;
    /// Number of recorded moments.
    fn frames(&self) -> usize;
    /// Number of rows of the contact table.
    fn contact_rows(&self) -> usize;
    /// Columns of the trajectory.
    fn columns(&self) -> Vec<(&str, ColumnKind)>;
    /// Columns of the contact table.
    fn contact_columns(&self) -> Vec<(&str, ColumnKind)>;
    /// A column of the trajectory.
    fn column(&self, name: &str) -> Result<Column, RecordingError>;
    /// A column of the contact table.
    fn contact_column(&self, name: &str) -> Result<Column, RecordingError>;
    /// Row ranges of the contacts of each recorded moment.
    fn contacts_of_frames(&self) -> Result<Vec<Range<usize>>, RecordingError>;
    /// Constant of the whole run, by name: a parameter of a study.
    fn constant(&self, _name: &str) -> Option<f64> {
        None
    }
    /// True if a label without any contact means an absent contact instead of an error; one trial of many may lack it.
    fn allows_unseen_contacts(&self) -> bool {
        false
    }
}

impl Source for RunTables {
    fn step(&self) -> f64 {
        self.info().step
    }

    fn frames(&self) -> usize {
        self.frames()
    }

    fn contact_rows(&self) -> usize {
        self.contact_rows()
    }

    fn columns(&self) -> Vec<(&str, ColumnKind)> {
        self.columns()
    }

    fn contact_columns(&self) -> Vec<(&str, ColumnKind)> {
        self.contact_columns()
    }

    fn column(&self, name: &str) -> Result<Column, RecordingError> {
        self.column(name)
    }

    fn contact_column(&self, name: &str) -> Result<Column, RecordingError> {
        self.contact_column(name)
    }

    fn contacts_of_frames(&self) -> Result<Vec<Range<usize>>, RecordingError> {
        self.contacts_of_frames()
    }
}

/// Columns that expressions read; a run in memory keeps only these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// Columns of the trajectory, and names that are not columns.
    pub columns: BTreeSet<String>,
    /// Columns of the contact table.
    pub contact_columns: BTreeSet<String>,
    /// True if contacts are read.
    pub contacts: bool,
}

impl Needs {
    pub(super) fn add(&mut self, tree: &Node) {
        // Functions over time read the times.
        self.columns.insert("t".to_owned());
        self.walk(tree, false);
    }

    fn walk(&mut self, node: &Node, in_contacts: bool) {
        match &node.kind {
            Kind::Number(_) => {}
            Kind::Name(name) | Kind::Text(name) => {
                let stored = if name == "step_number" { "step" } else { name };
                let columns = if in_contacts { &mut self.contact_columns } else { &mut self.columns };
                columns.insert(stored.to_owned());
            }
            Kind::Negate(inner) | Kind::Not(inner) => self.walk(inner, in_contacts),
            Kind::Binary(_, left, right) => [left, right].into_iter().for_each(|node| self.walk(node, in_contacts)),
            Kind::Call(function, arguments) => {
                let gathers = matches!(function, Function::Contacts(_));
                self.contacts |= gathers;
                for node in arguments {
                    self.walk(node, in_contacts || gathers);
                }
            }
            Kind::Contact { column, .. } => {
                self.contacts = true;
                self.contact_columns.extend(["contact".to_owned(), column.clone()]);
            }
        }
    }
}
