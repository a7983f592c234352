//! Sets of deployment intent groups, found applications, clusters and logical clouds, described by patterns.

use std::str::FromStr;
use std::sync::Arc;

use crate::{ClusterName, DigName, LogicalCloudName, NamePattern, NamePatternError, RecordSubject};

/// The word between project and name in the pattern of a logical cloud, as the command line writes it.
const LOGICAL_CLOUDS: &str = "logical-clouds";

/// A set of subjects: what a user may see or change. Clones share the patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SubjectSet {
    /// Every subject, and data that belong to no single subject.
    Everything,
    /// No subject.
    #[default]
    Nothing,
    /// Subjects that match one of the patterns.
    Matching(Arc<[SubjectPattern]>),
}

/// A pattern of subjects of one type. `*` in a part of a name matches any characters of that part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectPattern {
    /// Deployment intent groups and found applications.
    Application(ApplicationPattern),
    /// Clusters, by `provider+name`.
    Cluster(NamePattern),
    /// Logical clouds, by project and name.
    LogicalCloud(LogicalCloudPattern),
}

/// A pattern of applications: `project/composite-app/version/deployment-intent-group`, or `namespace/application` for
/// found applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationPattern([NamePattern; 4]);

/// A pattern of logical clouds: `project/logical-clouds/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicalCloudPattern([NamePattern; 2]);

/// The reason why a text is not a pattern of subjects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectPatternError {
    /// Another number of parts.
    #[error(
        "`{0}` is not a pattern of applications: write `project/composite-app/version/deployment-intent-group`, or `namespace/application`"
    )]
    Application(String),
    /// Not a pattern of logical clouds.
    #[error("`{0}` is not a pattern of logical clouds: write `project/logical-clouds/name`")]
    LogicalCloud(String),
    /// A part of the name is not a pattern.
    #[error(transparent)]
    Name(#[from] NamePatternError),
}

impl SubjectSet {
    /// The set of the subjects that match one of the patterns.
    pub fn matching(patterns: Vec<SubjectPattern>) -> Self {
        if patterns.is_empty() {
            return Self::Nothing;
        }
        Self::Matching(patterns.into())
    }

    /// The subjects of both sets.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Everything, _) | (_, Self::Everything) => Self::Everything,
            (Self::Nothing, set) => set.clone(),
            (set, Self::Nothing) => set,
            (Self::Matching(ours), Self::Matching(theirs)) => {
                Self::Matching(ours.iter().chain(theirs.iter()).cloned().collect())
            }
        }
    }

    /// Returns whether the set has every subject, also subjects that do not exist yet.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Everything)
    }

    /// Returns whether the set has no subject.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Returns whether the set has a subject. Called for each subject of an answer.
    pub fn contains(&self, subject: &RecordSubject) -> bool {
        match subject {
            RecordSubject::Group(name) => self.has_application(name),
            RecordSubject::Cluster(name) => self.has_cluster(name),
            RecordSubject::LogicalCloud(name) => self.has_logical_cloud(name),
        }
    }

    /// Returns whether the set has a deployment intent group or a found application.
    pub fn has_application(&self, name: &DigName) -> bool {
        self.any(|pattern| {
            matches!(pattern, SubjectPattern::Application(pattern) if pattern.matches(name))
        })
    }

    /// Returns whether the set has a cluster.
    pub fn has_cluster(&self, name: &ClusterName) -> bool {
        // Formatted only if there are patterns of clusters.
        self.any(|pattern| {
            matches!(pattern, SubjectPattern::Cluster(pattern) if pattern.matches(&name.to_string()))
        })
    }

    /// Returns whether the set has a logical cloud.
    pub fn has_logical_cloud(&self, name: &LogicalCloudName) -> bool {
        self.any(|pattern| {
            matches!(pattern, SubjectPattern::LogicalCloud(pattern) if pattern.matches(name))
        })
    }

    fn any(&self, matches: impl Fn(&SubjectPattern) -> bool) -> bool {
        match self {
            Self::Everything => true,
            Self::Nothing => false,
            Self::Matching(patterns) => patterns.iter().any(matches),
        }
    }
}

impl ApplicationPattern {
    fn matches(&self, name: &DigName) -> bool {
        let Self([project, composite_app, version, dig]) = self;
        project.matches(&name.project)
            && composite_app.matches(&name.composite_app)
            && version.matches(&name.version)
            && dig.matches(&name.dig)
    }
}

impl LogicalCloudPattern {
    fn matches(&self, of: &LogicalCloudName) -> bool {
        let Self([project, name]) = self;
        project.matches(&of.project) && name.matches(&of.name)
    }
}

impl FromStr for ApplicationPattern {
    type Err = SubjectPatternError;

    fn from_str(text: &str) -> Result<Self, SubjectPatternError> {
        let parts: Vec<&str> = text.split('/').collect();
        let parts = match parts.as_slice() {
            [project, composite_app, version, dig] => [*project, composite_app, version, dig],
            [namespace, application] => [DigName::NONE, application, DigName::NONE, namespace],
            _ => return Err(SubjectPatternError::Application(text.to_owned())),
        };
        let [project, composite_app, version, dig] = parts.map(str::parse);
        Ok(Self([project?, composite_app?, version?, dig?]))
    }
}

impl FromStr for LogicalCloudPattern {
    type Err = SubjectPatternError;

    fn from_str(text: &str) -> Result<Self, SubjectPatternError> {
        let mut parts = text.split('/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(project), Some(LOGICAL_CLOUDS), Some(name), None) => {
                Ok(Self([project.parse()?, name.parse()?]))
            }
            _ => Err(SubjectPatternError::LogicalCloud(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applications(pattern: &str) -> SubjectSet {
        SubjectSet::matching(vec![SubjectPattern::Application(pattern.parse().unwrap())])
    }

    #[test]
    fn a_pattern_of_applications_matches_part_by_part() {
        let group = DigName::new("retail", "shop", "v1", "blue").unwrap();
        let found = DigName::found("shop", Some("web")).unwrap();
        for (pattern, has_group, has_found) in [
            ("retail/shop/v1/blue", true, false),
            ("retail/*/*/*", true, false),
            ("ret*/shop/v*/b*e", true, false),
            ("web/shop", false, true),
            ("*/shop", false, true),
            ("-/shop/-/web", false, true),
            ("*/*/*/*", true, true),
            ("retail/shop/v2/*", false, false),
            // A star does not reach into the next part.
            ("ret*/v1/blue/x", false, false),
        ] {
            let set = applications(pattern);
            assert_eq!(set.has_application(&group), has_group, "{pattern}");
            assert_eq!(set.has_application(&found), has_found, "{pattern}");
            assert!(!set.has_cluster(&"retail+shop".parse().unwrap()));
        }
    }

    #[test]
    fn clusters_and_logical_clouds_have_patterns_of_their_own() {
        let set = SubjectSet::matching(vec![
            SubjectPattern::Cluster("edge+e*".parse().unwrap()),
            SubjectPattern::LogicalCloud("retail/logical-clouds/*".parse().unwrap()),
        ]);
        assert!(set.has_cluster(&"edge+e1".parse().unwrap()));
        assert!(!set.has_cluster(&"core+e1".parse().unwrap()));
        let cloud = |project| LogicalCloudName::new(project, "lc1").unwrap();
        assert!(set.contains(&RecordSubject::LogicalCloud(cloud("retail"))));
        assert!(!set.contains(&RecordSubject::LogicalCloud(cloud("other"))));
        assert!(!set.has_application(&DigName::found("shop", None).unwrap()));
    }

    #[test]
    fn the_union_has_the_subjects_of_both_sets() {
        let shop = DigName::found("shop", Some("web")).unwrap();
        let bank = DigName::found("bank", Some("web")).unwrap();
        let both = applications("web/shop").union(&applications("web/bank"));
        assert!(both.has_application(&shop) && both.has_application(&bank));
        let nothing = SubjectSet::Nothing.union(&SubjectSet::matching(Vec::new()));
        assert!(nothing.is_nothing() && !nothing.has_application(&shop));
        assert!(
            applications("web/shop")
                .union(&SubjectSet::Everything)
                .is_everything()
        );
    }

    #[test]
    fn a_wrong_pattern_is_refused_with_the_right_form() {
        for wrong in ["", "shop", "a/b/c", "a/b/c/d/e", "a//c/d", "a b/c"] {
            assert!(wrong.parse::<ApplicationPattern>().is_err(), "{wrong}");
        }
        let error = "shop"
            .parse::<ApplicationPattern>()
            .unwrap_err()
            .to_string();
        assert!(error.contains("namespace/application"), "{error}");
        let error = "a/b"
            .parse::<LogicalCloudPattern>()
            .unwrap_err()
            .to_string();
        assert!(error.contains("project/logical-clouds/name"), "{error}");
    }
}
