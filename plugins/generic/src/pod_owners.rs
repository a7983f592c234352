//! Widely used Kinds that own Pods, directly or through other objects.
//!
//! A relation of all Kinds to Pods would search the descendants of every object in a cluster, so
//! these Kinds are listed. A verdict on them reports recent restarts of their Pods.

/// Group and Kind of the owners.
pub(crate) const KINDS: [(&str, &str); 19] = [
    ("apps.kruise.io", "CloneSet"),
    ("apps.kruise.io", "DaemonSet"),
    ("apps.kruise.io", "StatefulSet"),
    ("argoproj.io", "Rollout"),
    ("core.strimzi.io", "StrimziPodSet"),
    ("elasticsearch.k8s.elastic.co", "Elasticsearch"),
    ("k8s.mariadb.com", "MariaDB"),
    ("kafka.strimzi.io", "Kafka"),
    ("kafka.strimzi.io", "KafkaConnect"),
    ("kibana.k8s.elastic.co", "Kibana"),
    ("monitoring.coreos.com", "Alertmanager"),
    ("monitoring.coreos.com", "Prometheus"),
    ("mongodbcommunity.mongodb.com", "MongoDBCommunity"),
    ("opentelemetry.io", "OpenTelemetryCollector"),
    ("postgresql.cnpg.io", "Cluster"),
    ("rabbitmq.com", "RabbitmqCluster"),
    ("ray.io", "RayCluster"),
    ("redis.redis.opstreelabs.in", "Redis"),
    ("serving.knative.dev", "Revision"),
];
