//! The objects of a report while it is made to fit.

use std::cmp::Reverse;

use super::left_out::LeftOut;
use super::piece::Piece;
use super::shorten::Shortening;
use super::status::FRAME_BYTES;
use super::{BundleDialect, BundleFormat};

/// An object may take this part of the limit before it is shortened for the sake of the others.
const LARGE_DIVISOR: usize = 8;

/// The objects of a report.
pub(super) struct Draft<'r> {
    pieces: Vec<Piece<'r>>,
    /// The size of all pieces, in bytes.
    bytes: usize,
}

impl<'r> Draft<'r> {
    pub(super) fn of(pieces: Vec<Piece<'r>>) -> Self {
        let bytes = FRAME_BYTES + pieces.iter().map(Piece::bytes).sum::<usize>();
        Self { pieces, bytes }
    }

    /// Drops content until the report fits, as far as the order of dropping permits.
    pub(super) fn fit(&mut self, bytes_max: usize, left_out: &mut LeftOut) {
        if self.bytes > bytes_max {
            self.shorten_large(bytes_max / LARGE_DIVISOR, left_out);
        }
        self.shorten(bytes_max, Shortening::Messages, left_out);
        self.shorten(bytes_max, Shortening::Spec, left_out);
        self.drop_owned(bytes_max, left_out);
    }

    /// Shortens each object above a size, so that it affects only itself.
    fn shorten_large(&mut self, object_bytes_max: usize, left_out: &mut LeftOut) {
        self.pieces.retain_mut(|piece| {
            let before = piece.bytes();
            for shortening in Shortening::OF_LARGE {
                if piece.entry_bytes() > object_bytes_max && piece.shorten(shortening) {
                    left_out.note_shortened(piece.object, shortening);
                }
            }
            self.bytes -= before;
            let is_kept = piece.entry_bytes() <= object_bytes_max;
            if is_kept {
                self.bytes += piece.bytes();
            } else {
                left_out.reject(piece.object);
            }
            is_kept
        });
    }

    /// Shortens the largest objects until the report fits. Only owned objects lose their spec.
    fn shorten(&mut self, bytes_max: usize, shortening: Shortening, left_out: &mut LeftOut) {
        for at in self.largest_first(bytes_max) {
            let piece = self.pieces.get_mut(at);
            let piece = piece.filter(|piece| shortening != Shortening::Spec || piece.is_owned());
            let Some(piece) = piece.filter(|_| self.bytes > bytes_max) else {
                continue;
            };
            let before = piece.bytes();
            if piece.shorten(shortening) {
                self.bytes = (self.bytes + piece.bytes()).saturating_sub(before);
                left_out.note_shortened(piece.object, shortening);
            }
        }
    }

    /// Drops the largest owned objects until the report fits.
    fn drop_owned(&mut self, bytes_max: usize, left_out: &mut LeftOut) {
        let mut is_dropped = vec![false; self.pieces.len()];
        for at in self.largest_first(bytes_max) {
            let Some(piece) = self.pieces.get(at).filter(|piece| piece.is_owned()) else {
                continue;
            };
            if self.bytes > bytes_max
                && let Some(is_dropped) = is_dropped.get_mut(at)
            {
                *is_dropped = true;
                self.bytes = self.bytes.saturating_sub(piece.bytes());
                left_out.note_owned(piece.object);
            }
        }
        let mut is_dropped = is_dropped.into_iter();
        self.pieces.retain(|_| is_dropped.next() != Some(true));
    }

    /// The positions of the pieces, largest first; none if the report fits.
    fn largest_first(&self, bytes_max: usize) -> Vec<usize> {
        if self.bytes <= bytes_max {
            return Vec::new();
        }
        let sizes = self.pieces.iter().enumerate();
        let mut sizes: Vec<(Reverse<usize>, usize)> = sizes
            .map(|(at, piece)| (Reverse(piece.bytes()), at))
            .collect();
        sizes.sort_unstable();
        sizes.into_iter().map(|(_, at)| at).collect()
    }

    /// The pieces of the first object, and the pieces of further objects; both in the order of the report. The first
    /// object has as many as fit: objects without owners before others, and the lists of one Kind before the list of any
    /// Kind.
    pub(super) fn split(self, format: &BundleFormat) -> (Vec<Piece<'r>>, Vec<Piece<'r>>) {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        let priority = |at: &usize| {
            let piece = self.pieces.get(*at);
            piece.map(|piece| (piece.is_owned(), piece.list().is_none()))
        };
        let mut space = format.bytes_max.saturating_sub(FRAME_BYTES);
        let fits_whole = self.bytes <= format.bytes_max;
        if !fits_whole {
            order.sort_by_key(priority);
        }
        let mut is_first = vec![false; self.pieces.len()];
        for at in order {
            let (Some(piece), Some(is_first)) = (self.pieces.get(at), is_first.get_mut(at)) else {
                continue;
            };
            let has_list = format.dialect == BundleDialect::V22 || piece.list().is_some();
            if has_list && let Some(rest) = space.checked_sub(piece.bytes()) {
                space = rest;
                *is_first = true;
            }
        }
        let mut is_first = is_first.into_iter();
        self.pieces
            .into_iter()
            .partition(|_| is_first.next() == Some(true))
    }
}
