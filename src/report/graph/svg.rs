//! SVG without any tool: states in columns by the calls that they take, each near to those it comes from.

use super::{fill, inside, shortened};
use crate::check::{Node, Picture};
use std::fmt::Write;

const CHAR: usize = 7;
const LINE: usize = 16;
const PADDING: usize = 10;
const COLUMN_GAP: usize = 250;
const ROW_GAP: usize = 56;
const MARGIN: usize = 40;
const TITLE: usize = 36;
/// Longer lines are cut.
const MAX_CHARS: usize = 34;

struct Place {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    lines: Vec<String>,
}

/// A rectangle: left, top, right, bottom.
type Area = (usize, usize, usize, usize);

impl Place {
    fn area(&self) -> Area {
        (self.x, self.y, self.x + self.width, self.y + self.height)
    }

    fn middle(&self) -> usize {
        self.y + self.height / 2
    }

    fn right(&self) -> usize {
        self.x + self.width
    }
}

#[must_use]
pub fn svg(picture: &Picture) -> String {
    let places = places(picture);
    // Lines first, then boxes, then what stands beside the lines, where there is room for it.
    let mut taken: Vec<Area> = places.iter().map(Place::area).collect();
    let mut body = String::new();
    let mut labels = String::new();
    for edge in &picture.edges {
        if let (Some(from), Some(to)) = (places.get(edge.from), places.get(edge.to)) {
            let middle = line(&mut body, from, to);
            label(&mut labels, middle, &shortened(&edge.labels), &mut taken);
        }
    }
    for (at, (place, node)) in places.iter().zip(&picture.nodes).enumerate() {
        boxed(&mut body, place, node, at == 0);
    }
    let right = taken.iter().map(|area| area.2).max().unwrap_or(0);
    let bottom = taken.iter().map(|area| area.3).max().unwrap_or(TITLE);
    let (width, height) = (right + MARGIN, bottom + MARGIN + picture.remarks.len() * LINE);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">"
    );
    out.push_str(
        "  <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n",
    );
    let _ = writeln!(out, "  <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
    let _ = writeln!(out, "  <text x=\"{MARGIN}\" y=\"24\" font-size=\"15\">{}</text>", escaped(&picture.title));
    out.push_str(&body);
    out.push_str(&labels);
    for (at, remark) in picture.remarks.iter().enumerate() {
        let y = bottom + 24 + at * LINE;
        let _ = writeln!(out, "  <text x=\"{MARGIN}\" y=\"{y}\" fill=\"#555\">{}</text>", escaped(remark));
    }
    out.push_str("</svg>\n");
    out
}

/// Columns by depth; within a column by the mean height of what leads there.
fn places(picture: &Picture) -> Vec<Place> {
    let mut places: Vec<Place> = picture
        .nodes
        .iter()
        .map(|node| {
            let lines: Vec<String> = inside(node).iter().map(|line| cut(line)).collect();
            let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let height = lines.len().max(1) * LINE + 2 * PADDING;
            Place { x: 0, y: 0, width: (longest * CHAR + 2 * PADDING).max(60), height, lines }
        })
        .collect();
    // A budget may take many calls: columns that would be empty are left out.
    let columns: std::collections::BTreeSet<usize> = picture.nodes.iter().map(|node| node.depth).collect();
    let mut x = MARGIN;
    for column in columns {
        let mut members: Vec<(usize, usize)> = picture
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.depth == column)
            .map(|(at, _)| (mean_height(picture, &places, at, column), at))
            .collect();
        members.sort_unstable();
        let mut y = MARGIN + TITLE;
        let mut widest = 0;
        for (_, at) in members {
            if let Some(place) = places.get_mut(at) {
                place.x = x;
                place.y = y;
                y += place.height + ROW_GAP;
                widest = widest.max(place.width);
            }
        }
        x += widest + COLUMN_GAP;
    }
    places
}

fn mean_height(picture: &Picture, places: &[Place], node: usize, column: usize) -> usize {
    let earlier = picture.edges.iter().filter(|edge| edge.to == node && edge.from != node);
    let heights: Vec<usize> = earlier
        .filter(|edge| picture.nodes.get(edge.from).is_some_and(|from| from.depth < column))
        .filter_map(|edge| places.get(edge.from))
        .map(Place::middle)
        .collect();
    if heights.is_empty() { 0 } else { heights.iter().sum::<usize>() / heights.len() }
}

/// Draws a line and gives its middle.
fn line(out: &mut String, from: &Place, to: &Place) -> (usize, usize) {
    let forward = to.x > from.x;
    let (x1, y1) =
        if forward { (from.right(), from.middle()) } else { (from.x + from.width / 2, from.y + from.height) };
    let (x2, y2) = if forward { (to.x, to.middle()) } else { (to.x + to.width / 2, to.y + to.height) };
    if forward {
        let bend = usize::midpoint(x1, x2);
        let _ = writeln!(
            out,
            "  <path d=\"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#tip)\"/>"
        );
        (bend, usize::midpoint(y1, y2))
    } else {
        // Back, or within a column: below the boxes.
        let low = y1.max(y2) + ROW_GAP / 2 + 10;
        let _ = writeln!(
            out,
            "  <path d=\"M{x1} {y1}C{x1} {low} {x2} {low} {x2} {y2}\" fill=\"none\" stroke=\"#999\" \
             stroke-dasharray=\"4 3\" marker-end=\"url(#tip)\"/>"
        );
        (usize::midpoint(x1, x2), low)
    }
}

/// Writes the lines of a label around a place, moved up or down to where nothing else stands.
fn label(out: &mut String, (middle_x, middle_y): (usize, usize), labels: &[String], taken: &mut Vec<Area>) {
    let widest = labels.iter().map(|label| cut(label).chars().count()).max().unwrap_or(0) * CHAR;
    let height = labels.len() * LINE;
    let area = |top: usize| -> Area {
        let left = middle_x.saturating_sub(widest / 2);
        (left, top.saturating_sub(LINE), left + widest, top + height.saturating_sub(LINE))
    };
    let free = |area: Area| {
        taken.iter().all(|other| area.2 <= other.0 || other.2 <= area.0 || area.3 <= other.1 || other.3 <= area.1)
    };
    let ideal = middle_y.saturating_sub(labels.len().saturating_sub(1) * LINE / 2 + 4);
    let around = (0..40).flat_map(|step| [ideal + step * LINE, ideal.saturating_sub(step * LINE)]);
    let top = around.filter(|top| *top > TITLE + LINE).find(|top| free(area(*top))).unwrap_or(ideal);
    taken.push(area(top));
    for (at, label) in labels.iter().enumerate() {
        let (y, label) = (top + at * LINE, escaped(&cut(label)));
        // A white edge below the letters keeps them apart from lines.
        for look in ["stroke=\"white\" stroke-width=\"3\" fill=\"white\"", "fill=\"#333\""] {
            let _ = writeln!(
                out,
                "  <text x=\"{middle_x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"11\" {look}>{label}</text>"
            );
        }
    }
}

fn boxed(out: &mut String, place: &Place, node: &Node, first: bool) {
    let Place { x, y, width, height, lines } = place;
    let stroke = if first { 3 } else { 1 };
    let _ = writeln!(
        out,
        "  <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{}\" stroke=\"#444\" \
         stroke-width=\"{stroke}\"/>",
        fill(node.kind)
    );
    for (at, line) in lines.iter().enumerate() {
        let (x, y) = (x + PADDING, y + PADDING + 12 + at * LINE);
        let _ = writeln!(out, "  <text x=\"{x}\" y=\"{y}\">{}</text>", escaped(line));
    }
}

fn cut(line: &str) -> String {
    if line.chars().count() <= MAX_CHARS {
        return line.to_owned();
    }
    let mut out: String = line.chars().take(MAX_CHARS - 1).collect();
    out.push('…');
    out
}

fn escaped(text: &str) -> String {
    let visible = crate::text::visible(text);
    visible.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
