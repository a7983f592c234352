import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/** A MongoDB in memory: {@code java -cp 'jars/*' Server.java PORT [CERTIFICATE KEY]}, both as PEM. */
class Server {
    public static void main(String[] arguments) throws Exception {
        var backend = new MemoryBackend();
        backend.version(new Version());
        var server = new MongoServer(backend);
        if (arguments.length > 1) {
            server.enableSsl(key(Path.of(arguments[2])), null, certificate(Path.of(arguments[1])));
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
}
