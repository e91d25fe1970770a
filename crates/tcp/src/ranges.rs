//! A set of stream offsets as sorted, disjoint, non-adjacent ranges.

use std::collections::VecDeque;

/// Disjoint half-open ranges in ascending order. Operations at either end are
/// constant, others logarithmic plus a short move.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: VecDeque<(u64, u64)>,
    total: u64,
}

impl RangeSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many offsets the set holds.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.total = 0;
    }

    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.ranges.front().copied()
    }

    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.ranges.back().copied()
    }

    /// Ranges from the highest down.
    pub(crate) fn iter_down(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.iter().rev().copied()
    }

    /// Index of the first range that ends after `at`.
    fn after(&self, at: u64) -> usize {
        self.ranges.partition_point(|&(_, end)| end <= at)
    }

    /// The range that contains `at`.
    pub(crate) fn range_at(&self, at: u64) -> Option<(u64, u64)> {
        self.ranges
            .get(self.after(at))
            .copied()
            .filter(|&(start, _)| start <= at)
    }

    pub(crate) fn contains_range(&self, start: u64, end: u64) -> bool {
        start >= end || self.range_at(start).is_some_and(|(_, right)| end <= right)
    }

    /// The first offset at or after `from` outside the set that has members above it.
    pub(crate) fn next_hole(&self, from: u64) -> Option<(u64, u64)> {
        let mut index = self.after(from);
        let mut hole = from;
        if let Some(&(start, end)) = self.ranges.get(index)
            && start <= from
        {
            hole = end;
            index += 1;
        }
        self.ranges.get(index).map(|&(start, _)| (hole, start))
    }

    /// Adds `[start, end)`, telling `fresh` each part that was not in the set;
    /// returns how many offsets were new.
    pub(crate) fn insert_with(&mut self, start: u64, end: u64, mut fresh: impl FnMut(u64, u64)) -> u64 {
        if start >= end {
            return 0;
        }
        match self.ranges.back_mut() {
            Some(last) if start > last.1 => {
                self.ranges.push_back((start, end));
                self.total += end - start;
                fresh(start, end);
                return end - start;
            }
            None => {
                self.ranges.push_back((start, end));
                self.total += end - start;
                fresh(start, end);
                return end - start;
            }
            Some(last) if start >= last.0 => {
                let old = last.1;
                if end <= old {
                    return 0;
                }
                last.1 = end;
                self.total += end - old;
                fresh(old, end);
                return end - old;
            }
            Some(_) => {}
        }
        // Ranges that touch or overlap the new one are merged into it.
        let low = self.ranges.partition_point(|&(_, right)| right < start);
        let high = self.ranges.partition_point(|&(left, _)| left <= end);
        let mut cursor = start;
        let mut added = 0;
        for &(left, right) in self.ranges.range(low..high) {
            if cursor < left {
                fresh(cursor, left);
                added += left - cursor;
            }
            cursor = cursor.max(right);
        }
        if cursor < end {
            fresh(cursor, end);
            added += end - cursor;
        }
        if low == high {
            self.ranges.insert(low, (start, end));
        } else {
            let merged = (start.min(self.ranges[low].0), end.max(self.ranges[high - 1].1));
            self.ranges[low] = merged;
            if high - low > 1 {
                self.ranges.drain(low + 1..high);
            }
        }
        self.total += added;
        added
    }

    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        self.insert_with(start, end, |_, _| {})
    }

    /// Removes everything below `to`.
    pub(crate) fn remove_below(&mut self, to: u64) {
        while let Some(first) = self.ranges.front_mut() {
            if first.1 <= to {
                self.total -= first.1 - first.0;
                self.ranges.pop_front();
            } else {
                if first.0 < to {
                    self.total -= to - first.0;
                    first.0 = to;
                }
                break;
            }
        }
    }

    /// Removes `[start, end)`; returns how many offsets were in the set.
    pub(crate) fn remove(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let mut removed = 0;
        let mut index = self.after(start);
        while let Some(&(left, right)) = self.ranges.get(index) {
            if left >= end {
                break;
            }
            let cut = (left.max(start), right.min(end));
            removed += cut.1 - cut.0;
            match (left < cut.0, cut.1 < right) {
                (true, true) => {
                    self.ranges[index].1 = cut.0;
                    self.ranges.insert(index + 1, (cut.1, right));
                    index += 2;
                }
                (true, false) => {
                    self.ranges[index].1 = cut.0;
                    index += 1;
                }
                (false, true) => {
                    self.ranges[index].0 = cut.1;
                    index += 1;
                }
                (false, false) => {
                    self.ranges.remove(index);
                }
            }
        }
        self.total -= removed;
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::RangeSet;

    fn members(set: &RangeSet) -> BTreeSet<u64> {
        set.ranges.iter().flat_map(|&(start, end)| start..end).collect()
    }

    #[test]
    fn holes_are_found_only_below_the_highest_range() {
        let mut set = RangeSet::default();
        set.insert(10, 20);
        set.insert(30, 40);
        assert_eq!(set.next_hole(0), Some((0, 10)));
        assert_eq!(set.next_hole(12), Some((20, 30)));
        assert_eq!(set.next_hole(20), Some((20, 30)));
        assert_eq!(set.next_hole(35), None);
        assert_eq!(set.next_hole(40), None);
    }

    proptest! {
        #[test]
        fn behaves_like_a_set_of_numbers(
            steps in prop::collection::vec((0_u8..3, 0_u64..60, 0_u64..12), 0..60)
        ) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (step, start, len) in steps {
                let end = start + len;
                match step {
                    0 => {
                        let mut fresh = BTreeSet::new();
                        let added = set.insert_with(start, end, |a, b| fresh.extend(a..b));
                        let expected: BTreeSet<u64> =
                            (start..end).filter(|n| !model.contains(n)).collect();
                        prop_assert_eq!(added as usize, expected.len());
                        prop_assert_eq!(&fresh, &expected);
                        model.extend(start..end);
                    }
                    1 => {
                        let removed = set.remove(start, end);
                        let before = model.len();
                        model.retain(|n| !(start..end).contains(n));
                        prop_assert_eq!(removed as usize, before - model.len());
                    }
                    _ => {
                        set.remove_below(start);
                        model.retain(|&n| n >= start);
                    }
                }
                prop_assert_eq!(&members(&set), &model);
                prop_assert_eq!(set.total() as usize, model.len());
                let touching = set.ranges.iter().zip(set.ranges.iter().skip(1));
                prop_assert!(touching.into_iter().all(|(a, b)| a.1 < b.0));
            }
        }
    }
}
