import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.BinData;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import io.netty.channel.Channel;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A MongoDB in memory: {@code java -cp 'jars/*' Server.java PORT [--certificate=PEM --key=PEM] [--user=NAME --password=TEXT]}.
 */
class Server {
    public static void main(String[] arguments) throws Exception {
        var options = new HashMap<String, String>();
        for (var argument : Arrays.copyOfRange(arguments, 1, arguments.length)) {
            var parts = argument.split("=", 2);
            options.put(parts[0], parts[1]);
        }
        var user = options.get("--user");
        var backend = user == null ? new MemoryBackend() : new GuardedBackend(user, options.get("--password"));
        backend.version(new Version());
        var server = new MongoServer(backend);
        if (options.containsKey("--key")) {
            server.enableSsl(key(Path.of(options.get("--key"))), null, certificate(Path.of(options.get("--certificate"))));
        }
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
    }

    private static X509Certificate certificate(Path file) throws Exception {
        try (InputStream text = new ByteArrayInputStream(Files.readAllBytes(file))) {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(text);
        }
    }

    private static PrivateKey key(Path file) throws Exception {
        var lines = Files.readString(file).lines().filter(line -> !line.startsWith("-----"));
        var bytes = Base64.getDecoder().decode(String.join("", lines.toList()));
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(bytes));
    }

    /** The oldest version that current drivers take: the one that the library has is older. */
    private static class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }

    /** A backend that lets one user in, of the database {@code admin}, by SCRAM-SHA-256: the library knows no users. */
    private static class GuardedBackend extends MemoryBackend {
        private static final Set<String> OPEN = Set.of("hello", "isMaster", "ismaster", "ping");
        private final String user;
        private final String password;
        private final Map<Channel, Login> logins = new ConcurrentHashMap<>();

        GuardedBackend(String user, String password) {
            this.user = user;
            this.password = password;
        }

        @Override
        public Document handleCommand(Channel channel, String database, String command, Document query) {
            var login = logins.computeIfAbsent(channel, it -> new Login());
            switch (command) {
                case "saslStart":
                    return reply(false, login.begin(database, text(query)));
                case "saslContinue":
                    return reply(true, login.end(text(query)));
                default:
            }
            if (!login.isIn && !OPEN.contains(command)) {
                throw new MongoServerError(13, "Unauthorized", "command " + command + " requires authentication");
            }
            var answer = super.handleCommand(channel, database, command, query);
            if (query.containsKey("saslSupportedMechs")) {
                answer.put("saslSupportedMechs", List.of("SCRAM-SHA-256"));
            }
            return answer;
        }

        @Override
        public void handleClose(Channel channel) {
            logins.remove(channel);
            super.handleClose(channel);
        }

        private static String text(Document query) {
            var payload = query.get("payload");
            var bytes = payload instanceof BinData data ? data.getData() : (byte[]) payload;
            return new String(bytes, StandardCharsets.UTF_8);
        }

        private static Document reply(boolean done, String text) {
            var payload = new BinData(text.getBytes(StandardCharsets.UTF_8));
            return new Document("conversationId", 1).append("done", done).append("payload", payload).append("ok", 1.0);
        }

        /** The login of one connection, as RFC 5802 and RFC 7677 have it. */
        private class Login {
            private static final String SALT = "c29tZSBzYWx0IGZvciBhIHRlc3Q=";
            private static final int ITERATIONS = 4096;
            private String begun;
            private String name;
            private boolean isIn;

            String begin(String database, String first) {
                var bare = first.substring("n,,".length());
                name = database + "." + value(bare, "n");
                var challenge = "r=" + value(bare, "r") + "kindsight,s=" + SALT + ",i=" + ITERATIONS;
                begun = bare + "," + challenge;
                return challenge;
            }

            String end(String last) {
                try {
                    var signed = (begun + "," + last.substring(0, last.lastIndexOf(",p="))).getBytes(StandardCharsets.UTF_8);
                    var spec = new PBEKeySpec(password.toCharArray(), Base64.getDecoder().decode(SALT), ITERATIONS, 256);
                    var salted = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
                    var client = mac(salted, "Client Key".getBytes(StandardCharsets.UTF_8));
                    var proof = mac(MessageDigest.getInstance("SHA-256").digest(client), signed);
                    for (int at = 0; at < proof.length; at++) {
                        proof[at] ^= client[at];
                    }
                    isIn = name.equals("admin." + user) && Arrays.equals(proof, Base64.getDecoder().decode(value(last, "p")));
                    var server = mac(salted, "Server Key".getBytes(StandardCharsets.UTF_8));
                    if (isIn) {
                        return "v=" + Base64.getEncoder().encodeToString(mac(server, signed));
                    }
                } catch (java.security.GeneralSecurityException error) {
                    throw new IllegalStateException(error);
                }
                throw new MongoServerError(18, "AuthenticationFailed", "Authentication failed.");
            }

            private static byte[] mac(byte[] key, byte[] text) throws java.security.GeneralSecurityException {
                var mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(key, "HmacSHA256"));
                return mac.doFinal(text);
            }

            private static String value(String message, String name) {
                var parts = Arrays.stream(message.split(",")).filter(part -> part.startsWith(name + "="));
                return parts.findFirst().orElse(name + "=").substring(name.length() + 1);
            }
        }
    }
}
