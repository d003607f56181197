//! A service's own certificate: where it comes from, which only the person says, in the system's dialog or by their own hand.
//!
//! Invariant: no page names the file, and none is told where it stood.

use crate::failure::error;
use crate::room::{Done, Room};
use std::path::Path;

impl Room {
    /// Trusts the certificates of a file for this service, instead of those that were.
    ///
    /// # Errors
    /// When there is no such service, or the file holds nothing that could be trusted; all stays as it was then.
    pub async fn set_certificate(&self, provider: &str, from: &Path) -> Done {
        self.after(self.inside.desk.set_certificate(provider.to_owned(), from.to_owned()).await).await
    }

    /// A dialog is the window's own; no other door has one.
    pub(crate) fn no_file_dialog() -> Done {
        let message = "there is no window to choose a file in";
        Err(error("dialog/none", message, "Use `daybook certificate`."))
    }
}
