//! Names that go out, and whose they are.

use praxiom::boundary::{Names, Offer, ResourceOffer, Resources, Route, Target};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn offers(all: &[(&str, bool, &[&str])]) -> BTreeMap<String, Offer> {
    let offer = |bare, names: &[&str]| Offer { bare, names: names.iter().map(|name| (*name).to_owned()).collect() };
    all.iter().map(|(server, bare, names)| ((*server).to_owned(), offer(*bare, names))).collect()
}

fn target(server: &str, name: &str) -> Target {
    Target { server: server.to_owned(), name: name.to_owned() }
}

#[test]
fn long_and_odd_names_are_shortened_and_still_found() {
    let server = "corp-cloud-infrastructure-mcp-server";
    let long = "get_stack_pre_deploy_validation_instructions";
    let names = Names::new(&offers(&[(server, false, &[long, "ping"]), ("fs", false, &["lire.é"])]), 50);
    let short = "corp-cloud-infrastructure-mcp-server__get__9a5e7ad5";
    let exposed = names.exposed(&target(server, long)).unwrap();
    assert_eq!(exposed.len(), 50);
    assert_eq!(&exposed[..42], &short[..42]);
    assert_eq!(names.find(exposed), Some(&target(server, long)));
    assert_eq!(names.find(&format!("{server}__{long}")), Some(&target(server, long)));
    assert_eq!(names.exposed(&target(server, "ping")), Some("corp-cloud-infrastructure-mcp-server__ping"));
    let odd = names.exposed(&target("fs", "lire.é")).unwrap();
    assert!(odd.starts_with("fs__lire___") && odd.len() == "fs__lire__".len() + 9, "{odd}");
    assert_eq!(names.shortened().count(), 2);
    assert_eq!(names.find("fs__gone"), None);
}

#[test]
fn what_collides_is_withheld_and_named() {
    let short = |server: &str, name: &str| {
        Names::new(&offers(&[(server, false, &[name])]), 50).iter().next().unwrap().1.to_owned()
    };
    let long = "x".repeat(60);
    let taken = short("fs", &long);
    let tail = taken.strip_prefix("fs__").unwrap();
    for (all, contested, left) in [
        // A bare name of two servers.
        (offers(&[("a", true, &["status", "one"]), ("b", true, &["status"])]), vec!["status"], vec!["one"]),
        // A bare name and another's full name.
        (offers(&[("a", true, &["fs__read"]), ("fs", false, &["read", "list"])]), vec!["fs__read"], vec!["fs__list"]),
        // A bare name and the full name of one that goes out bare.
        (offers(&[("a", true, &["fs__read"]), ("fs", true, &["read"])]), vec!["fs__read"], vec![]),
        // A shortened name and a real one.
        (offers(&[("fs", false, &[&long, tail, "list"])]), vec![taken.as_str()], vec!["fs__list"]),
        // Names of servers that the configuration refuses.
        (
            offers(&[("a_", false, &["status"]), ("a", false, &["_status", "b__c"]), ("a__b", false, &["c"])]),
            vec!["a___status", "a__b__c"],
            vec![],
        ),
    ] {
        let names = Names::new(&all, 50);
        assert_eq!(names.collisions().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), contested);
        assert_eq!(names.iter().map(|(_, name)| name).collect::<Vec<_>>(), left);
        for collision in names.collisions() {
            assert_eq!(collision.targets.len(), 2);
            assert_eq!(names.find(&collision.name), None);
            assert!(collision.targets.iter().all(|target| names.find(&target.full()).is_none()));
        }
    }
}

fn servers() -> impl Strategy<Value = BTreeMap<String, Offer>> {
    let tool = r"(_|a|b|__|é|\.|-|[a-z]{30}){1,4}";
    btree_map("(a|b|_|-){1,4}", (any::<bool>(), vec(tool, 0..6)), 0..5)
        .prop_map(|all| all.into_iter().map(|(server, (bare, names))| (server, Offer { bare, names })).collect())
}

proptest! {
    #[test]
    fn each_name_has_one_owner_whatever_came_first(all in servers(), budget in 0usize..60) {
        let names = Names::new(&all, budget);
        let mut reversed = all.clone();
        for offer in reversed.values_mut() { offer.names.reverse(); }
        prop_assert_eq!(&Names::new(&reversed, budget), &names);
        let mut seen = BTreeSet::new();
        for (target, exposed) in names.iter() {
            prop_assert!(seen.insert(exposed));
            prop_assert!(exposed.len() <= budget.max(10));
            prop_assert!(exposed.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
            prop_assert_eq!(names.find(exposed), Some(target));
            prop_assert_eq!(names.find(&target.full()), Some(target));
        }
        // What is not there is in a collision.
        for (server, offer) in &all {
            for name in &offer.names {
                let target = target(server, name);
                let collides = names.collisions().iter().any(|collision| collision.targets.contains(&target));
                prop_assert_eq!(names.exposed(&target).is_none(), collides);
            }
        }
    }
}

#[test]
fn resources_are_routed_by_listing_then_by_template() {
    let offer = |uris: &[&str], templates: &[&str]| ResourceOffer {
        uris: uris.iter().map(|uri| (*uri).to_owned()).collect(),
        templates: templates.iter().map(|text| (*text).to_owned()).collect(),
    };
    let resources = Resources::new(&BTreeMap::from([
        ("a".to_owned(), offer(&["a:one", "x:both"], &["a:{id}", "d:{+path}", "t:{x}"])),
        (
            "b".to_owned(),
            offer(&["a:two", "x:both"], &["b:{id}/c{?q,r}", "d:{name}", "t:{x}", "{+all}", "b:{", "b:{!x}"]),
        ),
    ]));
    for (uri, wanted) in [
        ("a:one", Route::Server("a")),
        ("a:two", Route::Server("b")),
        ("a:three", Route::Server("a")),
        ("a:three/four", Route::Unowned),
        ("x:both", Route::Withheld(vec!["a", "b"])),
        ("b:1/c", Route::Server("b")),
        ("b:1/c?q=1&r=2", Route::Server("b")),
        ("b:1/c/d", Route::Unowned),
        ("d:e/f", Route::Server("a")),
        ("d:e", Route::Withheld(vec!["a", "b"])),
        ("a:x\n", Route::Unowned),
        ("", Route::Unowned),
    ] {
        assert_eq!(resources.route(uri), wanted, "{uri}");
    }
    assert_eq!(resources.reference("a:{id}"), Route::Server("a"));
    assert_eq!(resources.reference("t:{x}"), Route::Withheld(vec!["a", "b"]));
    assert_eq!(resources.reference("a:one"), Route::Server("a"));
    let withheld: Vec<_> = resources.withheld().collect();
    assert_eq!(withheld, [("x:both", vec!["a", "b"]), ("t:{x}", vec!["a", "b"])]);
    assert_eq!(resources.refused().len(), 3);
    assert!(
        resources.refused()[0].starts_with("the resource template `{+all}` of the server `b` is not used: it begins")
    );
}

#[test]
fn templates_match_by_their_operators_and_cost_little() {
    let resources = |templates: &[String]| {
        let offer = ResourceOffer { uris: Vec::new(), templates: templates.to_vec() };
        Resources::new(&BTreeMap::from([("s".to_owned(), offer)]))
    };
    for (template, yes, no) in [
        ("x:{a}", vec!["x:", "x:é", "x:a.b;c&d"], vec!["x:a/b", "x:a?b", "x:a#b", "x:a b", "x:\u{2003}", "y:a"]),
        ("x:{+a}", vec!["x:", "x:a/b?c&d"], vec!["x:a#b", "x:a b"]),
        ("x:a{#b}", vec!["x:a", "x:a#", "x:a#b/?#"], vec!["x:ab", "x:a# "]),
        ("x:a{.b}", vec!["x:a", "x:a.b", "x:a.b.c"], vec!["x:ab", "x:a.b/c"]),
        ("x:a{/b}", vec!["x:a", "x:a/b/c"], vec!["x:ab", "x:a/b?c"]),
        ("x:a{;b}", vec!["x:a", "x:a;b=1;c"], vec!["x:ab", "x:a;b/c"]),
        ("x:a{?b,c}", vec!["x:a", "x:a?b=1&c=/"], vec!["x:ab", "x:a?b#c"]),
        ("x:a?q{&b}", vec!["x:a?q", "x:a?q&b=1"], vec!["x:a?qb"]),
        ("x:{a}é{b}é", vec!["x:éé", "x:éééé", "x:1é2é"], vec!["x:é", "x:ééa", "x:1é2"]),
        ("x:{a}.md{?q}", vec!["x:.md", "x:.md.md?", "x:a.md?q=.md"], vec!["x:a.m", "x:a.mdx"]),
    ] {
        let routes = resources(&[template.to_owned()]);
        assert!(yes.iter().all(|uri| routes.route(uri) == Route::Server("s")), "{template} {yes:?}");
        assert!(no.iter().all(|uri| routes.route(uri) == Route::Unowned), "{template} {no:?}");
    }
    // Long and hard, but with an end.
    let hard = format!("x:{}b", "{+a}a".repeat(16));
    assert_eq!(resources(&[hard]).route(&format!("x:{}", "a".repeat(8000))), Route::Unowned);
    assert_eq!(resources(&["x:{+a}".to_owned()]).route(&format!("x:{}", "a".repeat(9000))), Route::Unowned);
    // What is too much is left out with a word, and the rest is used.
    let large = format!("x:{}", "{+a}b".repeat(400));
    let mut many: Vec<String> = (0..300).map(|n| format!("x:{n}/{{a}}")).collect();
    many.insert(0, large);
    let routes = resources(&many);
    assert_eq!(routes.route("x:198/a"), Route::Server("s"));
    assert_eq!(routes.route("x:199/a"), Route::Unowned);
    assert_eq!(routes.refused().len(), 2);
    assert!(routes.refused()[0].contains("lists 301 resource templates, of which 200 are used"));
    assert!(routes.refused()[1].ends_with("is not used: it holds more than 16 expressions"));
}
