//! Lists of names, whose form is the same in both dialects, except for the case of the members.

/// Declares the types of the lists of names in one dialect.
macro_rules! name_lists {
    (
        case = $case:tt, app = $app:ident;
        $(#[$names_about:meta])* $names:ident;
        $(#[$list_about:meta])* $list:ident;
        $(#[$clusters_about:meta])* $clusters:ident;
        $(#[$cluster_about:meta])* $cluster:ident;
        $(#[$resources_about:meta])* $resources:ident;
    ) => {
        $(#[$names_about])*
        #[derive(Debug, Clone, PartialEq, Eq, ::serde::Serialize, ::utoipa::ToSchema)]
        #[schema(bound = "")]
        pub struct $names<'a, N = Vec<ResourceName<'a>>> {
            /// The composite application that contains the group.
            #[serde(flatten)]
            #[schema(value_type = $app<'a>)]
            pub app: $app<'a>,
            /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
            pub name: Cow<'a, str>,
            /// The requested list.
            #[serde(flatten)]
            #[schema(value_type = $list<'a>)]
            pub list: $list<'a, N>,
        }

        $(#[$list_about])*
        #[derive(Debug, Clone, PartialEq, Eq, ::serde::Serialize, ::utoipa::ToSchema)]
        #[serde(rename_all = $case)]
        pub enum $list<'a, N = Vec<ResourceName<'a>>> {
            /// With `apps`: names of the apps.
            #[schema(value_type = Vec<String>)]
            Apps(Vec<Cow<'a, str>>),
            /// With `clusters`: the clusters of each selected app.
            ClustersByApp(Vec<$clusters<'a>>),
            /// With `resources`: the resources of each selected app in each selected cluster.
            #[schema(value_type = Vec<$resources<'a>>)]
            ResourcesByApp(Vec<$resources<'a, N>>),
        }

        $(#[$clusters_about])*
        #[derive(Debug, Clone, PartialEq, Eq, ::serde::Serialize, ::utoipa::ToSchema)]
        pub struct $clusters<'a> {
            /// Name of the app.
            #[schema(example = "sink")]
            pub app: Cow<'a, str>,
            /// Its clusters.
            pub clusters: Vec<$cluster<'a>>,
        }

        $(#[$cluster_about])*
        #[derive(Debug, Clone, PartialEq, Eq, ::serde::Serialize, ::utoipa::ToSchema)]
        #[serde(rename_all = $case)]
        pub struct $cluster<'a> {
            /// Provider of the cluster.
            #[schema(example = "vfw-cluster-provider")]
            pub cluster_provider: Cow<'a, str>,
            /// Name of the cluster at that provider.
            #[schema(example = "edge01")]
            pub cluster: Cow<'a, str>,
        }

        $(#[$resources_about])*
        #[derive(Debug, Clone, PartialEq, Eq, ::serde::Serialize, ::utoipa::ToSchema)]
        #[serde(rename_all = $case)]
        #[schema(bound = "")]
        pub struct $resources<'a, N = Vec<ResourceName<'a>>> {
            /// Name of the app.
            #[schema(example = "sink")]
            pub app: Cow<'a, str>,
            /// Provider of the cluster.
            #[schema(example = "vfw-cluster-provider")]
            pub cluster_provider: Cow<'a, str>,
            /// Name of the cluster at that provider.
            #[schema(example = "edge01")]
            pub cluster: Cow<'a, str>,
            /// The resources, first the ones with a manifest.
            #[schema(value_type = Vec<ResourceName<'a>>)]
            pub resources: N,
        }
    };
}

pub(crate) use name_lists;
