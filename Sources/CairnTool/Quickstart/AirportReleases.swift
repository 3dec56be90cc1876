// Two releases of a small list for the tour: sixty-odd airports as they were in 2010 and in 2024.
//
// The list was compiled for this tour from public facts. Between the releases some airports were renamed,
// some opened, some closed, and two pairs exchanged a code: Istanbul's IST and Doha's DOH moved to new
// airports, while the old ones kept a code of their own.

/// The two releases, as CSV.
enum AirportReleases {
    private static let header =
        "icao,iata,name,city,country,elevation,latitude,longitude\n"

    /// As of 2010.
    static let first = header + same + before

    /// As of 2024.
    static let second = header + same + after

    /// The unchanged lines.
    private static let same = """
        CYYZ,YYZ,Toronto Pearson International Airport,Toronto,CA,569,43.6772,-79.6306
        DNMM,LOS,Murtala Muhammed International Airport,Lagos,NG,135,6.5774,3.3212
        EDDF,FRA,Frankfurt Airport,Frankfurt am Main,DE,364,50.0333,8.5706
        EDDM,MUC,Munich Airport,Munich,DE,1487,48.3538,11.7861
        EFHK,HEL,Helsinki Airport,Helsinki,FI,179,60.3172,24.9633
        EGLL,LHR,London Heathrow Airport,London,GB,83,51.4706,-0.4619
        EHAM,AMS,Amsterdam Airport Schiphol,Amsterdam,NL,-11,52.3086,4.7639
        EIDW,DUB,Dublin Airport,Dublin,IE,242,53.4213,-6.2701
        EKCH,CPH,Copenhagen Airport,Copenhagen,DK,17,55.6179,12.656
        ENGM,OSL,Oslo Airport,Oslo,NO,681,60.1939,11.1004
        EPWA,WAW,Warsaw Chopin Airport,Warsaw,PL,362,52.1657,20.9671
        ESSA,ARN,Stockholm Arlanda Airport,Stockholm,SE,137,59.6519,17.9186
        FAOR,JNB,O. R. Tambo International Airport,Johannesburg,ZA,5558,-26.1392,28.246
        HAAB,ADD,Addis Ababa Bole International Airport,Addis Ababa,ET,7630,8.9779,38.7993
        HECA,CAI,Cairo International Airport,Cairo,EG,382,30.1219,31.4056
        HKJK,NBO,Jomo Kenyatta International Airport,Nairobi,KE,5330,-1.3192,36.9278
        KJFK,JFK,John F. Kennedy International Airport,New York,US,13,40.6398,-73.7789
        KSFO,SFO,San Francisco International Airport,San Francisco,US,13,37.619,-122.3749
        LFPG,CDG,Paris Charles de Gaulle Airport,Paris,FR,392,49.0097,2.5478
        LGAV,ATH,Athens International Airport,Athens,GR,308,37.9364,23.9445
        LIRF,FCO,Leonardo da Vinci–Fiumicino Airport,Rome,IT,13,41.8003,12.2389
        LOWW,VIE,Vienna International Airport,Vienna,AT,600,48.1103,16.5697
        LSZH,ZRH,Zurich Airport,Zurich,CH,1416,47.4647,8.5492
        MMMX,MEX,Benito Juárez International Airport,Mexico City,MX,7316,19.4363,-99.0721
        NZAA,AKL,Auckland Airport,Auckland,NZ,23,-37.0081,174.7917
        OMDB,DXB,Dubai International Airport,Dubai,AE,62,25.2528,55.3644
        RJTT,HND,Haneda Airport,Tokyo,JP,35,35.5523,139.7797
        RKSI,ICN,Incheon International Airport,Seoul,KR,23,37.4691,126.4505
        SAEZ,EZE,Ministro Pistarini International Airport,Buenos Aires,AR,67,-34.8222,-58.5358
        SBGR,GRU,São Paulo/Guarulhos International Airport,São Paulo,BR,2459,-23.4356,-46.4731
        SKBO,BOG,El Dorado International Airport,Bogotá,CO,8361,4.7016,-74.1469
        VHHH,HKG,Hong Kong International Airport,Hong Kong,HK,28,22.3089,113.9146
        VIDP,DEL,Indira Gandhi International Airport,Delhi,IN,777,28.5665,77.1031
        VTBS,BKK,Suvarnabhumi Airport,Bangkok,TH,5,13.6811,100.7473
        WSSS,SIN,Singapore Changi Airport,Singapore,SG,22,1.3502,103.9944
        YSSY,SYD,Sydney Airport,Sydney,AU,21,-33.9461,151.1772
        ZBAA,PEK,Beijing Capital International Airport,Beijing,CN,116,40.0801,116.5846

        """

    /// The changed lines, and airports that have closed since, as of 2010.
    private static let before = """
        EDDB,SXF,Berlin Schönefeld Airport,Berlin,DE,157,52.38,13.5225
        EDDT,TXL,Berlin Tegel Airport,Berlin,DE,122,52.5597,13.2877
        KBUR,BUR,Bob Hope Airport,Burbank,US,778,34.2007,-118.3587
        KLAS,LAS,McCarran International Airport,Las Vegas,US,2181,36.0801,-115.1522
        KSDF,SDF,Louisville International Airport,Louisville,US,501,38.1744,-85.736
        LEBL,BCN,Barcelona–El Prat Airport,Barcelona,ES,12,41.2971,2.0785
        LEMD,MAD,Madrid–Barajas Airport,Madrid,ES,1998,40.4719,-3.5626
        LKPR,PRG,Prague Ruzyně Airport,Prague,CZ,1247,50.1008,14.26
        LLET,ETH,Eilat Airport,Eilat,IL,42,29.5613,34.9601
        LPMA,FNC,Madeira Airport,Funchal,PT,192,32.6979,-16.7745
        LPPT,LIS,Lisbon Portela Airport,Lisbon,PT,374,38.7813,-9.1359
        LTBA,IST,Istanbul Atatürk Airport,Istanbul,TR,163,40.9769,28.8146
        LWSK,SKP,Skopje Alexander the Great Airport,Skopje,MK,781,41.9616,21.6214
        OTBD,DOH,Doha International Airport,Doha,QA,35,25.2611,51.5651
        PHNL,HNL,Honolulu International Airport,Honolulu,US,13,21.3187,-157.9224
        UACC,TSE,Astana International Airport,Astana,KZ,1165,51.0222,71.4669
        UUEE,SVO,Sheremetyevo International Airport,Moscow,RU,622,55.9726,37.4146
        VOBL,BLR,Bengaluru International Airport,Bangalore,IN,3000,13.1979,77.7063
        VRMM,MLE,Malé International Airport,Malé,MV,6,4.1918,73.5291
        ZBNY,NAY,Beijing Nanyuan Airport,Beijing,CN,,39.7828,116.3878

        """

    /// The changed lines, and airports that have opened since, as of 2024.
    private static let after = """
        EDDB,BER,Berlin Brandenburg Airport,Berlin,DE,157,52.3667,13.5033
        KBUR,BUR,Hollywood Burbank Airport,Burbank,US,778,34.2007,-118.3587
        KLAS,LAS,Harry Reid International Airport,Las Vegas,US,2181,36.0801,-115.1522
        KSDF,SDF,Louisville Muhammad Ali International Airport,Louisville,US,501,38.1744,-85.736
        LEBL,BCN,Josep Tarradellas Barcelona–El Prat Airport,Barcelona,ES,12,41.2971,2.0785
        LEMD,MAD,Adolfo Suárez Madrid–Barajas Airport,Madrid,ES,1998,40.4719,-3.5626
        LKPR,PRG,Václav Havel Airport Prague,Prague,CZ,1247,50.1008,14.26
        LLER,ETM,Ramon Airport,Eilat,IL,288,29.7237,35.0114
        LPMA,FNC,Cristiano Ronaldo International Airport,Funchal,PT,192,32.6979,-16.7745
        LPPT,LIS,Humberto Delgado Airport,Lisbon,PT,374,38.7813,-9.1359
        LTBA,ISL,Istanbul Atatürk Airport,Istanbul,TR,163,40.9769,28.8146
        LTFM,IST,Istanbul Airport,Istanbul,TR,325,41.2753,28.7519
        LWSK,SKP,Skopje International Airport,Skopje,MK,781,41.9616,21.6214
        MMSM,NLU,Felipe Ángeles International Airport,Mexico City,MX,7369,19.7567,-99.0153
        OTBD,DIA,Doha International Airport,Doha,QA,35,25.2611,51.5651
        OTHH,DOH,Hamad International Airport,Doha,QA,13,25.2731,51.6081
        PHNL,HNL,Daniel K. Inouye International Airport,Honolulu,US,13,21.3187,-157.9224
        UACC,NQZ,Nursultan Nazarbayev International Airport,Astana,KZ,1165,51.0222,71.4669
        UUEE,SVO,Sheremetyevo Alexander S. Pushkin International Airport,Moscow,RU,622,55.9726,37.4146
        VOBL,BLR,Kempegowda International Airport,Bangalore,IN,3000,13.1979,77.7063
        VRMM,MLE,Velana International Airport,Malé,MV,6,4.1918,73.5291
        ZBAD,PKX,Beijing Daxing International Airport,Beijing,CN,98,39.5098,116.4105

        """
}
