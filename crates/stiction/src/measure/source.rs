//! Where the columns of a run come from: files, or memory.

use std::{collections::BTreeSet, ops::Range};

use super::syntax::{Function, Kind, Node};
use crate::record::{Column, ColumnKind, RecordingError, RunTables};

/// A run whose columns can be asked for by name.
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
    /// For each recorded moment the rows of its contacts.
    fn contacts_of_frames(&self) -> Result<Vec<Range<usize>>, RecordingError>;
    /// A number that belongs to the whole run, by name: a parameter of a study.
    fn constant(&self, _name: &str) -> Option<f64> {
        None
    }
    /// Whether a contact that never came into being is absent, rather than a mistake in the expression: one trial of many may lack it.
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

/// The columns that expressions read, so that a run in memory keeps no others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// Columns of the trajectory, and names that are no columns at all.
    pub columns: BTreeSet<String>,
    /// Columns of the contact table.
    pub contact_columns: BTreeSet<String>,
    /// Whether contacts are looked at.
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
                arguments.iter().for_each(|node| self.walk(node, in_contacts || gathers));
            }
            Kind::Contact { column, .. } => {
                self.contacts = true;
                self.contact_columns.extend(["contact".to_owned(), column.clone()]);
            }
        }
    }
}
