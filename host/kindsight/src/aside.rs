//! A thread of its own for steps that block, one after the other, behind those who ask.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use kindsight_interpreter::lower_priority;
use tokio::sync::oneshot;

type Step = Box<dyn FnOnce() + Send>;

/// The thread. It ends when this is dropped, after the step it is at.
///
/// The executor's threads for steps that block cannot serve here: they take turns, and a thread that
/// stepped aside does not come back.
pub(crate) struct Aside(SyncSender<Step>);

impl Aside {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub(crate) fn start(name: &'static str) -> io::Result<Self> {
        let (sender, steps) = sync_channel::<Step>(1);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                lower_priority();
                for step in steps {
                    step();
                }
            })?;
        Ok(Self(sender))
    }

    /// Runs a step and waits for what it says; none where it broke, or one before it did.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (told, said) = oneshot::channel();
        let step = move || {
            // Who asked may have gone.
            let _ = told.send(step());
        };
        // One step at a time is waited for, so there is room for it.
        self.0.try_send(Box::new(step)).ok()?;
        said.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn steps_run_on_one_thread_until_one_breaks() {
        let aside = Aside::start("test").unwrap();
        let here = thread::current().id();
        let first = aside.run(|| thread::current().id()).await.unwrap();
        let second = aside.run(|| thread::current().id()).await.unwrap();
        assert_eq!(first, second);
        assert_ne!(first, here);
        assert_eq!(aside.run(move || assert_eq!(here, first)).await, None);
        assert_eq!(aside.run(|| 1).await, None);
    }
}
