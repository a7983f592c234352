use kindsight_server::catalog::CatalogLimits;
use kindsight_server::interpreter::{Isolation, Limits};

use std::ffi::OsString;

use clap::CommandFactory as _;

use super::*;
use crate::cli::{Cli, Command};
use crate::config_file::read;

fn serve(toml: &str, args: &[&str]) -> anyhow::Result<ServeArgs> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("kindsight.toml");
    std::fs::write(&file, toml)?;
    let config = format!("--config={}", file.display());
    let argv = ["kindsight", "serve", &config]
        .into_iter()
        .chain(args.iter().copied());
    match read(argv.map(OsString::from).collect())?.command {
        Command::Serve(args) => Ok(*args),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_time_is_given_with_its_unit() {
    for (given, seconds) in [("90s", 90), ("10m", 600), ("1h 30m", 5400), ("0s", 0)] {
        let args = serve("", &["--gone-for", given]).unwrap();
        assert_eq!(args.gone_for.as_secs(), seconds, "{given}");
    }
    let defaults = serve("", &[]).unwrap();
    assert_eq!(defaults.gone_for.as_secs(), 600);
    assert_eq!(defaults.kind_grace.as_secs(), 60);
    for wrong in ["10", "-1m", "soon", ""] {
        assert!(duration(wrong).unwrap_err().contains("with its unit"));
    }
}

#[test]
fn a_flag_beats_the_file_and_the_file_beats_the_default() {
    let file = "listen = \"127.0.0.1:1\"\ncalls-max = 7\ncluster = [\"p+a=x\", \"p+b=y\"]\nisolate-calls = true\n";
    let args = serve(file, &["--calls-max", "9"]).unwrap();
    assert_eq!(args.listen.port(), 1);
    assert_eq!(args.interpreter_limits.calls_max, 9);
    assert_eq!(args.interpreter_limits.queue_max, 256);
    assert_eq!(args.clusters.len(), 2);
    assert_eq!(
        args.interpreter_limits.limits().isolation,
        Isolation::PerCall
    );
    let args = serve(file, &["--cluster", "p+c=z"]).unwrap();
    assert_eq!(args.clusters.len(), 1);
}

#[test]
fn the_plugin_of_onap_is_enabled_by_a_flag_or_a_table_and_adds_its_rule() {
    let rules = |args: &ServeArgs| {
        let rules = args.watch.options(args.k8splugin.is_enabled()).rules;
        rules
            .iter()
            .map(|rule| format!("{rule:?}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let off = serve("", &[]).unwrap();
    assert_eq!(off.k8splugin.settings(), None);
    assert_eq!(rules(&off), "ArgoCd,Flux,Helm,PartOf,Instance");
    for (file, args) in [
        ("", &["--k8splugin"][..]),
        ("k8splugin = true", &[]),
        ("[k8splugin]", &[]),
    ] {
        let on = serve(file, args).unwrap();
        assert!(on.k8splugin.settings().unwrap().instances.is_empty());
        assert_eq!(rules(&on), "ArgoCd,Flux,Helm,K8splugin,PartOf,Instance");
    }
    let table = "[k8splugin.cloud-regions]\nkrd = \"onap+krd\"\n[[k8splugin.instance]]\nid = \"a\"";
    let own = serve(table, &["--application-rule=instance,k8splugin"]).unwrap();
    let settings = own.k8splugin.settings().unwrap();
    assert_eq!(
        (settings.cloud_regions.len(), settings.instances.len()),
        (1, 1)
    );
    assert_eq!(rules(&own), "Instance,K8splugin");
    let only_helm = serve(table, &["--application-rule=helm"]).unwrap();
    assert_eq!(rules(&only_helm), "Helm,K8splugin");
    let error = format!(
        "{:#}",
        serve("[k8splugin]\ninstances = 1", &[]).unwrap_err()
    );
    assert!(
        error.contains("[k8splugin]: unknown field `instances`"),
        "{error}"
    );
}

#[test]
fn an_invalid_file_is_reported_with_the_reason() {
    for (file, expected) in [
        ("lissten = \"x\"", "unknown setting `lissten`"),
        ("listen = \"nowhere\"", "invalid value 'nowhere'"),
        ("listen = \"localhost\"", "expected IP:PORT, such as `127"),
        (
            "metrics-listen = \"9100\"",
            "expected IP:PORT, such as `127",
        ),
        ("listen = {}", "`listen` is a table"),
        ("listen", "line 1, column 7: key with no value"),
    ] {
        let error = format!("{:#}", serve(file, &[]).unwrap_err());
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("kindsight.toml"), "{error}");
    }
}

#[test]
fn flags_have_the_defaults_of_the_crates() {
    let args = serve("", &[]).unwrap();
    let (limits, default) = (args.interpreter_limits.limits(), Limits::default());
    assert_eq!(format!("{limits:?}"), format!("{default:?}"));
    assert_eq!(
        args.rest_limits.limits(&limits),
        kindsight_server::rest::Limits::default()
    );
    assert_eq!(
        args.interpreter_limits.catalog_limits(),
        CatalogLimits::default()
    );
}

#[test]
fn an_application_is_a_table_of_the_file() {
    let file = "[[application]]\nname = \"shop/web/v1/prod\"\nnamespaces = [\"shop\"]\n\
        [[application.app]]\nname = \"front\"\nselector = \"app=front\"\n\
        [[application.app]]\nname = \"rest\"\nselector = \"app\"\n\
        [[application]]\nname = \"shop/base/v1/prod\"\n\
        [[application.app]]\nname = \"base\"\nselector = \"base\"\n";
    let args = serve(file, &[]).unwrap();
    let applications = applications(&args.application_tables).unwrap();
    let told: Vec<String> = applications
        .iter()
        .map(|application| format!("{} {}", application.name, application.apps.len()))
        .collect();
    assert_eq!(told, ["shop/web/v1/prod 2", "shop/base/v1/prod 1"]);
    let error = serve("[[application]]\nname = \"shop/web/v1/prod\"\n", &[]).unwrap_err();
    let error = format!("{error:#}");
    assert!(error.contains("it has no apps"), "{error}");
    assert!(!error.contains("application-table"), "{error}");
    for wrong in ["application = \"shop\"", "application-table = \"{}\""] {
        let error = format!("{:#}", serve(wrong, &[]).unwrap_err());
        assert!(error.contains("[[application]]"), "{error}");
    }
}

#[test]
fn each_setting_has_an_environment_variable_with_its_name() {
    let command = Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    for flag in serve.get_arguments().filter(|flag| !flag.is_hide_set()) {
        let long = flag.get_long().unwrap();
        if long.starts_with("help") {
            continue;
        }
        let expected = format!("KINDSIGHT_{}", long.to_uppercase().replace('-', "_"));
        assert_eq!(flag.get_env(), Some(expected.as_ref()), "--{long}");
    }
}
